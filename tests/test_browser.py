"""The browser of the tests is there, runs scripts, draws with WebGL and tells what a page's console says."""

from support.browser import Opened

PAGE = """<!doctype html><title>page</title><canvas id="c" width="200" height="200"></canvas><script>
const gl = document.getElementById("c").getContext("webgl2");
gl.clearColor(0.2, 0.6, 0.3, 1); gl.clear(gl.COLOR_BUFFER_BIT);
console.error("said");
</script>"""


def test_a_page_is_opened_and_asked(browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(PAGE)
    with Opened(browser, path) as opened:
        assert opened.ask("gl.getParameter(gl.VERSION)").startswith("WebGL 2")
        assert opened.ask("Promise.resolve(1 + 1)") == 2
        assert opened.console == ["said"]
        assert opened.colours() > 1
