"""The errata of each source: entries, and the robots on which their errors are found."""

from papers.errata.tables import barman, guarino, hua, khalil, nasser

TABLES = (hua.table, barman.table, guarino.table, khalil.table, nasser.table)
