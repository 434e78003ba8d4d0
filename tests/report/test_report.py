"""The report: nothing outside itself, names stay text, and a real browser has nothing to complain of."""

import re
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import matplotlib as mpl
import numpy as np
import pytest
from browser import browser_in

import scorecal as sc
from scorecal.cli import main
from scorecal.diagnosis import Tolerance
from scorecal.report import report_html

mpl.use("Agg")
HOSTILE = ["<script>alert(1)</script>", 'price $ & $" onload="alert(2)']


@pytest.fixture(scope="module")
def page():
    rng = np.random.default_rng(0)
    mean, x = rng.normal(size=(400, 2)), rng.normal(size=400)
    y = mean + np.where(x > 0.5, 1.6, 1.0)[:, None] * rng.normal(size=(400, 2))
    predictions = sc.Gaussian(mean, 0.8)
    result = sc.calibration_test(predictions, y, n_resamples=199, rng=0)
    diagnosis = sc.diagnose(predictions, y, covariates={"<img src=x>": x}, names=HOSTILE, rng=0)
    coverage = sc.expected_coverage(predictions, y)
    data = {"predictions": predictions, "y": y, "coverage": coverage}
    return report_html(result, diagnosis, **data, title="<b>title</b>", settings={"<i>file": "</style>"})


class Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.texts = [], []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def elements(page):
    parser = Elements()
    parser.feed(page)
    return parser


def test_names_stay_text(elements):
    tags = {tag for tag, _ in elements.found}
    assert not tags & {"script", "img", "link", "iframe", "object", "b", "i"}
    assert not any(name.startswith("on") for _, attributes in elements.found for name in attributes)
    for name in HOSTILE:
        assert name in elements.texts


def test_nothing_is_loaded(page, elements):
    for _, attributes in elements.found:
        for name in ("src", "href", "xlink:href"):
            assert attributes.get(name, "#").startswith("#")
    assert not re.search("https?:", page)
    assert "@import" not in page
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", page))


def test_ids_are_unique_and_every_reference_has_its_target(page, elements):
    ids = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    assert len(set(ids)) == len(ids)
    references = re.findall(r'(?:url\(#|href="#)([^)"]*)', page)
    assert references
    assert set(references) <= set(ids)


def test_pictures_have_descriptions(elements):
    pictures = [attributes for tag, attributes in elements.found if tag == "svg"]
    assert len(pictures) == 6
    assert all(attributes["role"] == "img" and len(attributes["aria-label"]) > 20 for attributes in pictures)


def test_verdict_first(elements):
    text = " ".join(part.strip() for part in elements.texts if part.strip())
    after_title = text[text.rindex("<b>title</b>") :]
    assert after_title.startswith("<b>title</b> Calibration is rejected at level 0.05 (p = 0.005, 400 predictions).")
    for words in ("over-confident", "What this test cannot see here", "bootstrap draws", sc.__version__):
        assert words in text


@pytest.fixture(scope="module")
def visit(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    with browser_in(folder) as browser:

        def visit(page, **options):
            (folder / "report.html").write_text(page, encoding="utf-8")
            return browser.visit(folder / "report.html", **options)

        yield visit


@pytest.mark.parametrize("width", [375, 1440])
@pytest.mark.parametrize("dark", [False, True])
def test_in_a_browser(page, visit, width, dark):
    found = visit(page, width=width, dark=dark)
    assert not found.said
    assert not found.asked
    assert found.pixels.shape[1] == width
    paper = found.pixels[5, 5, :3]
    assert (paper.mean() < 0.2) == dark
    assert np.mean(np.abs(found.pixels[:, :, :3] - paper).max(axis=2) > 0.1) > 0.01  # something is on it


@pytest.fixture
def server():
    """The address of a server on this machine, and a list of what was asked of it."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        thread = Thread(target=serving.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_port}", asked
        serving.shutdown()
        thread.join()


@pytest.mark.parametrize(
    "injected",
    [
        "<img src='{url}/x.png'>",
        "<style>@import '{url}/x.css'; body {{ background: url({url}/y.png) }}</style>",
        "<iframe src='{url}'></iframe>",
        "<svg><image href='{url}/x.png'/><use href='{url}/x.svg#a'/></svg>",
        "<script>fetch('{url}')</script>",
        "<form id=f action='{url}'></form><img src=data:, onerror='f.submit()'>",
    ],
)
def test_what_is_injected_reaches_nobody(page, visit, server, injected):
    """And would without the policy of the page."""
    url, asked = server
    spoilt = page.replace("</main>", f"{injected.format(url=url)}</main>")
    assert spoilt != page
    found = visit(spoilt)
    assert not asked
    assert any("Content Security Policy" in line for line in found.said)
    without = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", spoilt)
    assert without != spoilt
    visit(without)
    assert asked


def test_a_browser_would_tell(visit):
    """The same on a page that does load something, at once and later, and has errors."""
    later = "setTimeout(() => { fetch('http://127.0.0.1:9/later').catch(() => {}); console.error('oh') }, 20)"
    found = visit(f"<img src='http://127.0.0.1:9/x.png'><script>{later}; nonsense()</script>")
    assert found.asked == {"http://127.0.0.1:9/x.png", "http://127.0.0.1:9/later"}
    assert any("nonsense is not defined" in line for line in found.said)
    assert any('"oh"' in line for line in found.said)


def test_command_line_writes_it(tmp_path, capsys):
    rng = np.random.default_rng(0)
    mean = rng.normal(size=200)
    table = np.stack([mean, np.ones(200), mean + rng.normal(size=200)], 1)
    np.savetxt(tmp_path / "a.csv", table, delimiter=",", header="mu,<script>,u", comments="")
    options = ["--mean", "mu", "--std", "<script>", "--target", "u", "--report", str(tmp_path / "r.html")]
    assert main(["test", str(tmp_path / "a.csv"), *options]) == 0
    text = (tmp_path / "r.html").read_text()
    assert "No evidence against calibration" in text
    assert "Calibration of a.csv" in text
    options[-1] = str(tmp_path / "no" / "folder.html")
    assert main(["test", str(tmp_path / "a.csv"), *options]) == 2
    assert "there is no folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("off", "sd", "flipped", "words"),
    [
        (0.3, 1.0, False, ["<p>east: predictions are too high by 0[.](2|3)"]),
        (0.0, 0.75, False, ["north: over-confident, the true spread being 1[.]3", "east: over-confident"]),
        (0.0, 1.0, True, ["Errors of north and east have correlation 0[.](5|6)", "predictions claim -0[.]60"]),
        (0.0, None, False, ["most where x &gt; (0[.][89]|1[.][012])", "Contributions to the statistic over x"]),
    ],
    ids=["bias", "spread", "correlation", "x > 1"],
)
def test_the_report_names_what_was_spoilt(tmp_path, off, sd, flipped, words):
    """Bias of .3 in the second dimension; spread of .75; correlation flipped; wrong only where x > 1."""
    rng = np.random.default_rng(0)
    n = 2000
    mean, x = rng.normal(size=(n, 2)), rng.normal(size=n)
    true = np.array([[1.0, 0.6], [0.6, 1.0]])
    noise = rng.multivariate_normal(np.zeros(2), true if flipped else np.eye(2), n)
    y = mean + (noise if sd else np.where(x > 1, 1.8, 1.0)[:, None] * noise)
    claimed = np.broadcast_to((2.0 * np.eye(2) - true if flipped else np.eye(2)) * (sd or 1.0) ** 2, (n, 2, 2))
    columns = [mean[:, 0], mean[:, 1] + off, claimed[:, 0, 0], claimed[:, 0, 1], claimed[:, 1, 1], y, x]
    header = "m1,m2,c11,c12,c22,north,east,x"
    np.savetxt(tmp_path / "a.csv", np.column_stack(columns), delimiter=",", header=header, comments="")
    options = "--mean m1 m2 --covariance c11 c12 c22 --target north east --by x --n-resamples 199"
    assert main(["test", str(tmp_path / "a.csv"), *options.split(), "--report", str(tmp_path / "r.html")]) == 0
    page = (tmp_path / "r.html").read_text()
    assert "Calibration is rejected" in page
    for each in words:
        assert re.search(each, page), each


def test_the_report_has_levels_extreme_rows_and_the_tolerance(tmp_path):
    rng = np.random.default_rng(0)
    mean = rng.normal(size=600)
    y = mean + rng.normal(size=600)
    y[11] = -999.0
    table = np.stack([mean, np.ones(600), y, np.arange(600) % 2], 1)
    np.savetxt(tmp_path / "a.csv", table, delimiter=",", header="mu,sd,u,half", comments="")
    options = "--mean mu --std sd --target u --by half:label --n-resamples 199 --tolerate-bias 0.2"
    assert main(["test", str(tmp_path / "a.csv"), *options.split(), "--report", str(tmp_path / "r.html")]) == 1
    page = (tmp_path / "r.html").read_text()
    assert page.count("Within the tolerance (bias 0.2 sd): ") == 1
    assert page.index("Calibration is rejected") < page.index("Within the tolerance") < page.index("In what way")
    assert "Level by level" in page
    assert '<th scope="row">half = 1.0</th><td>299</td>' in re.sub(r"half = 1\.0+e\+00", "half = 1.0", page)
    assert "The most extreme rows" in page
    assert '<th scope="row">line 13</th><td>' in page
    assert "gross outliers" not in page
    assert page.count("a few targets are outliers") == 1


def test_a_good_model_has_no_table_of_extreme_rows():
    rng = np.random.default_rng(0)
    mean = rng.normal(size=300)
    predictions, y = sc.Gaussian(mean, 1.0), mean + rng.normal(size=300)
    result = sc.calibration_test(predictions, y, n_resamples=99, rng=0)
    diagnosis = sc.diagnose(predictions, y, result=result, rng=0)
    page = report_html(result, diagnosis)
    assert "The most extreme rows" not in page
    assert "Level by level" not in page
    assert "Within the tolerance" not in page
    tolerance = Tolerance(spread=1.5)
    assert tolerance.verdict(diagnosis) is True
    good = '<p class="verdict good">Within the tolerance (spread 1.5): yes.</p>'
    assert good in report_html(result, diagnosis, tolerance=tolerance)


def test_notebooks():
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(300, 1))
    data = sc.Gaussian(mean, 0.8), mean + rng.normal(size=(300, 1))
    shown = [
        sc.kccsd_test(*data, n_resamples=99, rng=0)._repr_html_(),
        sc.calibration_test(*data, n_resamples=99, rng=0)._repr_html_(),
        sc.diagnose(*data, names=["<script>"], rng=0)._repr_html_(),
    ]
    kinds = (("bandwidth, target", 1), ("over-confident", 1), ("&lt;script&gt;", 2))  # sizes, and the farthest rows
    for html, (words, n_tables) in zip(shown, kinds, strict=True):
        assert html.count("<table>") == html.count("</table>") == n_tables
        assert words in html
        assert "<script>" not in html


def test_notebooks_show_warnings_and_the_null_distribution():
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(60, 1))
    data = sc.Gaussian(mean, 1.0), np.round(mean + rng.normal(size=(60, 1)))
    for test in (sc.kccsd_test, sc.calibration_test):
        html = test(*data, null="signs", n_resamples=99, rng=0)._repr_html_()
        assert '<p class="warning"><strong>Warning:</strong> Targets are whole numbers' in html
        assert "signs" in html
        assert "Monte Carlo error" in html
