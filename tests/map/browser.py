"""The HTML summary in a real Chromium, opened from the disk and without a network."""

import html
import shutil
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from program import Programs, write_config
from sites import Sites

# What a page could say of itself or of others to get out of the place where it is shown.
HOSTILE = [
    "</script><script>window.owned = 1</script>",
    '<img src=x onerror="window.owned = 1">',
    "<!--<script>window.owned = 1</script>",
    "]]><svg onload='window.owned = 1'>",
    "{{data}} ${window.owned = 1} &lt;b&gt;",
]
LARGE = 2000
# Frames are handed out one by one, and every look at the clock makes it ten milliseconds later: how
# the work is cut into frames does not depend on the machine.
BY_HAND = """
let now = 0, next = null;
performance.now = () => (now += 10);
window.requestAnimationFrame = (callback) => { next = callback; return 1; };
window.turn = (frames) => { for (let n = 0; n < frames && next; n += 1) { const turn = next; next = null; turn(now); } };
"""


def check_hostile(programs: Programs, folder: Path) -> None:
    folder.mkdir()
    victims = {f"victim{at}.test": text for at, text in enumerate(HOSTILE)}
    folders = {"evil.test": folder / "evil", **{name: folder / "victim" for name in victims}}
    with Sites(folders) as sites:
        write_sites(folder, {sites.url(name): text for name, text in victims.items()})
        lists = "".join(f'[[quality]]\ndomain = "{name}"\nseeds = ["{sites.url(name)}"]\n' for name in folders)
        config = write_config(folder, sites.port, lists + '[[blacklist]]\ndomain = "bad.test"\n', max_depth=0)
        programs.trawl_map(config, "-q")
    programs.trawl_map(config, "--export-summary", "--format", "html", "-q")
    with opened(folder / "summary.html") as page:
        settled(page)
        for name, text in victims.items():
            search(page, name, name)
            details = page.text_content("#details")
            assert " ".join(text.split()) in details, f"{text!r} is not shown as text:\n{details}"
        click_on_canvas(page, "evil.test")
        page.screenshot(path=programs.kept / "hostile.png", full_page=True)
        assert page.evaluate("typeof window.owned") == "undefined", "hostile text was run"
        assert page.locator("img, svg, iframe, object").count() == 0, "hostile text became elements"


def write_sites(folder: Path, victims: dict[str, str]) -> None:
    """One site links to all the others, and to a blacklisted one, with everything it can think of."""
    links = "".join(
        f'<a href="{url}">{html.escape(text)}</a> <a href="http://bad.test/{html.escape(text)}">{html.escape(text)}</a>'
        for url, text in victims.items()
    )
    for name, body in (("evil", links), ("victim", "")):
        (folder / name).mkdir()
        title = html.escape(" ".join(HOSTILE))
        (folder / name / "index.html").write_text(f"<meta charset=utf-8><title>{title}</title>{body}")


def check_large(programs: Programs, folder: Path) -> None:
    programs.big_map(4 * LARGE, 12, LARGE, folder)
    file = folder / "summary.html"
    with opened(file) as page:
        settled(page)
        assert f"{LARGE:,} domains" in page.inner_text("#note"), page.inner_text("#note")
        # The last domain of the list is as easy to find as the first.
        name = page.evaluate("app.ranked.at(-1).name")
        search(page, name, name)
        page.click("#zoom-fit")
        click_on_canvas(page, page.evaluate("app.ranked[0].name"))
        picture = page.evaluate("app.canvas.toDataURL()")
        page.click("#zoom-in")
        page.wait_for_function("before => app.canvas.toDataURL() !== before", arg=picture)
        page.click("#zoom-fit")
        page.screenshot(path=programs.kept / "large.png")
    with opened(file, BY_HAND) as page:
        page.evaluate("turn(10)")
        assert layout(page) == "settling", "the layout holds up the page until it is done"
        name = page.evaluate("app.ranked[7].name")
        search(page, name, name)
        assert layout(page) == "settling"
        frames = page.evaluate("let frames = 10; while (!isSettled(app.layout) && frames < 2000) { turn(1); frames += 1; } frames")
        assert layout(page) == "settled", f"still settling after {frames} frames"
        print(f"   {LARGE} domains are settled after {frames} frames of at most three steps")
        assert frames > 50, f"{frames} frames: too much is done in one"


@contextmanager
def opened(file: Path, before: str = "") -> Page:
    """A page whose errors, warnings of its policy, dialogs and requests for anything else fail."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_context(viewport={"width": 1280, "height": 860}).new_page()
        wrong: list[str] = []
        page.on("console", lambda line: wrong.append(f"console: {line.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        if before:
            page.add_init_script(before)
        page.goto(file.as_uri())
        yield page
        browser.close()
    assert not wrong, wrong
    assert asked == [file.as_uri()], f"asked for {asked}"


def layout(page: Page) -> str:
    return page.get_attribute("html", "data-layout")


def settled(page: Page) -> None:
    page.wait_for_selector("html[data-layout=settled]", timeout=120_000)


def search(page: Page, text: str, domain: str) -> None:
    """Types, takes the first domain that is listed, and sees its details."""
    page.fill("#search", text)
    page.press("#search", "Enter")
    assert page.inner_text("#details h2 span") == domain, page.inner_text("#details")


def click_on_canvas(page: Page, domain: str) -> None:
    """Clicks where a domain is drawn."""
    page.evaluate("choose(app, null, false)")
    place = page.evaluate(
        """name => {
          const node = app.nodes.find((node) => node.name === name);
          const at = app.canvas.getBoundingClientRect();
          return [at.x + node.x * app.view.k + app.view.x, at.y + node.y * app.view.k + app.view.y];
        }""",
        domain,
    )
    page.mouse.click(*place)
    assert page.inner_text("#details h2 span") == domain, page.inner_text("#details")
