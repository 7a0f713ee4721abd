
const still = window.matchMedia('(prefers-reduced-motion: reduce)').matches;

/** A view, made when it is nearly in sight: a page of a dozen opens as quickly as a page of one. */
async function show(element) {
  const { name, ...look } = JSON.parse(element.dataset.look);
  const text = document.getElementById(`${name}-data`).textContent;
  const view = await linkwise.mount(element, text, { autoplay: !still, panel: false, plots: true, curve: 'tau', rest: 0.8, ...look });
  element.querySelector('.lw-tabs').scrollLeft = 1e4; // torques are the last
  const { controls } = view.stage; // the wheel scrolls the page until a view is clicked, then zooms until it is left
  controls.enableZoom = false;
  element.addEventListener('pointerdown', () => { controls.enableZoom = true; });
  element.addEventListener('pointerleave', () => { controls.enableZoom = false; });
  element.dataset.shown = linkwise.views.indexOf(view);
}

const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    show(target);
  }
}, { rootMargin: '300px' });

for (const element of document.querySelectorAll('.view[data-look]')) near.observe(element);
