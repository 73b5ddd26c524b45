//! Which links a crawl follows, by what their page asks for.

use trawl_testweb::{Answer, Behaviour, Behaviours, WebSpec};

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_may_ask_in_its_headers_not_to_be_followed() {
    // The header, whether the crawl heeds it, whether the link is followed.
    for (tag, heeds, followed) in [
        ("nofollow", true, false),
        ("noindex, NONE", true, false),
        ("trawl: nofollow", true, false),
        ("otherbot: nofollow", true, true),
        ("noindex", true, true),
        ("nofollow", false, true),
    ] {
        let page = Answer::html("<title>x</title><a href=/next>next</a>");
        let page = Behaviour::Answer(page.with_header("x-robots-tag", tag));
        let behaviours = Behaviours::none().on(0, "/", page).on(
            0,
            "/next",
            Behaviour::page("<title>Next</title>"),
        );
        let stage = Stage::new(WebSpec::small_site(1), behaviours).await;
        let mut spec = stage.spec(0);
        spec.scope.follow_nofollow = !heeds;
        stage.crawl(spec).await;
        let asked = stage.web.log().count(0, "/next") == 1;
        assert_eq!(asked, followed, "{tag}, heeded: {heeds}");
    }
}
