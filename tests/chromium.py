"""A real Chromium without a window: opens a page and tells what it logged and asked the network for."""

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement


class Chromium:
    """One browser; every question is about the page that was opened last."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, page: Path, **media: str) -> None:
        """Open a file in a fresh view, with media features such as ``prefers_color_scheme="dark"``."""
        features = [{"name": name.replace("_", "-"), "value": value} for name, value in media.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.driver.get("about:blank")
        for kind in ("browser", "performance"):
            self.driver.get_log(kind)
        self.driver.get(page.resolve().as_uri())

    def resize(self, width: int, height: int) -> None:
        """Give the page a size in CSS pixels; a window itself cannot be narrower than 500."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def messages(self) -> list[str]:
        """Return what stands on the console: errors, warnings, and refusals of the content security policy."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Return the address of everything that was asked for since the page was opened, the page first."""
        reported = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [each["params"]["request"]["url"] for each in reported if each["method"] == "Network.requestWillBeSent"]

    def find(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def find_all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        return self.find(selector).text

    def script(self, text: str, *arguments: object) -> Any:  # noqa: ANN401 # any JSON
        """Return what a script says about the page."""
        return self.driver.execute_script(text, *arguments)

    def picture(self, path: Path, first: str = "", last: str = "") -> None:
        """Save what the page looks like as a .png file: the whole width, from one selector's element to another's."""
        asked: dict[str, object] = {"captureBeyondViewport": True, "format": "png"}
        if first or last:
            top = self.find(first).rect["y"] if first else 0
            end = self.find(last).rect
            width = self.script("return document.documentElement.clientWidth")
            bottom = end["y"] + end["height"]
            asked["clip"] = {"x": 0, "y": top, "width": width, "height": bottom - top, "scale": 1}
        path.write_bytes(base64.b64decode(self.driver.execute_cdp_cmd("Page.captureScreenshot", asked)["data"]))

    def print(self, path: Path) -> None:
        """Save what paper would look like as a .pdf file."""
        asked = {"printBackground": False, "preferCSSPageSize": True}
        path.write_bytes(base64.b64decode(self.driver.execute_cdp_cmd("Page.printToPDF", asked)["data"]))


def is_installed() -> bool:
    return all(shutil.which(tool) for tool in ("chromium", "chromedriver"))


@contextmanager
def chromium(profile: Path) -> Iterator[Chromium]:
    """Start a browser with a profile folder of its own, and end it."""
    options = Options()
    options.binary_location = shutil.which("chromium") or "chromium"
    for argument in (
        "--headless=new",
        "--no-sandbox",  # containers give no user namespaces
        "--disable-dev-shm-usage",  # nor much shared memory
        "--disable-gpu",
        "--force-color-profile=srgb",
        f"--user-data-dir={profile}",
        "--window-size=1280,900",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
    try:
        yield Chromium(driver)
    finally:
        driver.quit()
