//! Pages with something to be found in them.

use trawl_testweb::Behaviour;

pub(crate) const NETS: &str = "Fishing nets are mended by hand on the quay before the boats leave. A needle \
    and strong twine are all that the work needs, and the knots have not changed in a hundred \
    years of fishing from this harbour.";
pub(crate) const TIDES: &str = "The tide turns twice a day, and the harbour master writes the hour on a board \
    by the gate. Boats with a deep keel wait for high water before they come in, because the bar \
    at the mouth is shallow.";
pub(crate) const STORMS: &str = "Storms come from the west in autumn. When the lantern on the mast is red \
    nobody leaves, and when it is green the pilots row out first to look at the sea beyond the \
    breakwater and the rocks.";

pub(crate) fn page(title: &str, text: &str) -> Behaviour {
    Behaviour::page(format!(
        "<!doctype html><html lang=en><title>{title}</title><nav><a href='/'>Home</a></nav>\
         <main><article><h1>{title}</h1><p>{text}</p></article></main></html>"
    ))
}
