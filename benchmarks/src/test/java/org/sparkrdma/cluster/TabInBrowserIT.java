// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.By;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;
import org.openqa.selenium.support.ui.WebDriverWait;
import org.sparkrdma.cluster.job.TabApplication;
import org.sparkrdma.launch.Installation;
import org.sparkrdma.launch.ProgressLog;
import org.sparkrdma.matrix.SparkHomes;

/**
 * The tab in a browser, of an application with 2,000 executors and 2,000 stages: live behind a
 * proxy with a base path, and in a History Server. Leaves pictures of what it saw in target.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class TabInBrowserIT {
  private static final Path BROWSER = Path.of("/usr/bin/chromium");
  private static final Path DRIVER = Path.of("/usr/bin/chromedriver");
  private static final String BASE = "/proxy/app";
  private static final Installation INSTALLATION = SparkSubmit.installation();

  /** Elements of a page; Spark's own page of the executors has 731. */
  private static final long MAX_NODES = 4_000;

  /** Finds what is wrong with the layout or the colours of the page. */
  private static final String PROBLEMS =
      """
      const tab = document.getElementById('rdma-shuffle'), problems = [];
      const width = document.documentElement.clientWidth;
      const luminance = colour => colour.match(/[0-9.]+/g).slice(0, 3)
        .map(one => Math.pow(one / 255, 2.2))
        .reduce((sum, one, i) => sum + one * [0.2126, 0.7152, 0.0722][i], 0.05);
      const contrast = one => {
        const text = luminance(getComputedStyle(one).color);
        const page = luminance(getComputedStyle(document.body).backgroundColor);
        return Math.max(text / page, page / text);
      };
      const align = one => getComputedStyle(one).textAlign.replace('start', 'left');
      const check = (one, wrong, what) => wrong && problems.push(what + ': ' + one.outerHTML);
      for (const one of tab.querySelectorAll('*')) {
        check(one, one.getBoundingClientRect().right > width, 'beyond the right edge');
      }
      for (const one of tab.querySelectorAll('td, th, p > span')) {
        check(one, one.scrollWidth > one.clientWidth, 'overflows');
        check(one, contrast(one) < (one.tagName == 'SPAN' ? 3 : 4.5), 'too little contrast');
      }
      for (const one of tab.querySelectorAll('th')) {
        const cell = one.closest('table').querySelector(`td:nth-child(${one.cellIndex + 1})`);
        check(one, !one.title, 'no tooltip');
        check(one, cell && align(cell) != align(one), 'not aligned with its values');
      }
      for (const one of tab.querySelectorAll('td.rdma-number')) {
        const text = document.createRange();
        text.selectNodeContents(one);
        check(one, text.getBoundingClientRect().height > 25, 'breaks');
      }
      return problems;
      """;

  /** Clicks on each heading above numbers, and finds those that do not sort them. */
  private static final String UNSORTED =
      """
      return [...document.querySelectorAll('th.rdma-number')].filter(heading => {
        heading.click();
        const keys = [...heading.closest('table').tBodies[0].rows]
          .map(row => Number(row.cells[heading.cellIndex].getAttribute('sorttable_customkey')));
        return keys.some((key, i) => i > 0 && keys[i - 1] > key);
      }).map(heading => heading.outerHTML);
      """;

  @TempDir private Path directory;
  private final List<Process> processes = new ArrayList<>();
  private ChromeDriver browser;
  private HttpServer proxy;

  @BeforeEach
  void startTheBrowser() {
    boolean installed = Files.isExecutable(BROWSER) && Files.isExecutable(DRIVER);
    assumeTrue(installed, "the tab in a browser: install chromium chromium-driver");
    LoggingPreferences logs = new LoggingPreferences();
    logs.enable(LogType.BROWSER, Level.ALL);
    ChromeOptions options = new ChromeOptions();
    options.setBinary(BROWSER.toFile());
    options.setCapability(ChromeOptions.LOGGING_PREFS, logs);
    options.addArguments("--headless=new", "--window-size=1280,900", "--disable-component-update");
    options.addArguments("--no-sandbox", "--disable-gpu", "--disable-quic");
    options.addArguments("--user-data-dir=" + directory.resolve("profile"));
    // With its path, so that nothing looks for a driver or downloads one.
    browser =
        new ChromeDriver(
            new ChromeDriverService.Builder().usingDriverExecutable(DRIVER.toFile()).build(),
            options);
  }

  @AfterEach
  void endAll() {
    if (browser != null) {
      browser.quit();
    }
    if (proxy != null) {
      proxy.stop(0);
    }
    LiveProcesses.end(processes.stream().map(Process::toHandle).toList(), Duration.ofSeconds(10));
  }

  @Test
  void shouldBeReadable() throws Exception {
    assertReadable(INSTALLATION.sparkHome());
  }

  @ParameterizedTest
  @ValueSource(strings = {"4.0.2", "4.1.3"})
  @Tag("nightly")
  void shouldBeReadableOnEarlierSpark(String version) throws Exception {
    assertReadable(new SparkHomes(INSTALLATION, new ProgressLog()).home(version, "2.13"));
  }

  private void assertReadable(Path home) throws Exception {
    Path logs = Files.createDirectory(directory.resolve("events"));
    String settings =
        "spark.ui.port=0 spark.ui.proxyBase=%s spark.eventLog.enabled=true spark.eventLog.dir=%s"
            + " spark.scheduler.listenerbus.eventqueue.capacity=100000";
    List<String> submit = new ArrayList<>(List.of("--master", "local[1]"));
    for (String setting : settings.formatted(BASE, logs.toUri()).split(" ", -1)) {
      submit.addAll(List.of("--conf", setting));
    }
    submit.addAll(List.of("--jars", INSTALLATION.plugIn().toString()));
    submit.addAll(List.of("--class", TabApplication.class.getName()));
    submit.add(JobFixture.jar(directory.resolve("job.jar")).toString());
    submit.addAll(List.of("2000", "2000"));
    Process application = start(home, "org.apache.spark.deploy.SparkSubmit", Map.of(), submit);
    String[] printed = awaitLine(application, "^(http://\\S+ local-\\S+)").split(" ", -1);
    proxy = proxy(printed[0]);
    String root = "http://127.0.0.1:" + proxy.getAddress().getPort() + BASE;
    assertReadable(root + "/rdma-shuffle/", home.getFileName() + "-live");
    browser.get(root + "/rdma-shuffle/");
    assertThat(text("#rdma-executors td:nth-child(3)")).startsWith("off (ibverbs: ");
    browser.findElement(By.cssSelector("#rdma-stages td a")).click();
    assertThat(browser.getCurrentUrl()).startsWith(root + "/stages/stage/?id=1999&attempt=0");
    assertThat(browser.getTitle()).contains("Details for Stage 1999 (Attempt 0)");
    application.getOutputStream().close();
    assertThat(application.waitFor()).isZero();

    String history = "-Dspark.history.ui.port=0 -Dspark.history.fs.logDirectory=" + logs.toUri();
    Process server =
        start(
            home,
            "org.apache.spark.deploy.history.HistoryServer",
            Map.of(
                "SPARK_DAEMON_CLASSPATH",
                INSTALLATION.plugIn().toString(),
                "SPARK_HISTORY_OPTS",
                history),
            List.of());
    String port = awaitLine(server, "started at http://\\S+:([0-9]+)");
    String url = "http://127.0.0.1:" + port + "/history/" + printed[1] + "/rdma-shuffle/";
    new WebDriverWait(browser, Duration.ofMinutes(2))
        .until(
            page -> {
              page.get(url);
              return !page.findElements(By.id("rdma-shuffle")).isEmpty();
            });
    // Of pages before the server had read the log.
    browser.manage().logs().get(LogType.BROWSER);
    assertReadable(url, home.getFileName() + "-history");
  }

  private String text(String selector) {
    return browser.findElement(By.cssSelector(selector)).getText();
  }

  private void assertReadable(String url, String name) throws IOException {
    for (String theme : List.of("light", "dark")) {
      browser.get(url);
      browser.executeScript("localStorage.setItem('spark-theme', arguments[0])", theme);
      browser.get(url);
      assertThat(browser.executeScript(PROBLEMS)).as(theme).isEqualTo(List.of());
      Path picture = Path.of("target", "tab-" + name + "-" + theme + ".png");
      Files.write(picture, browser.getScreenshotAs(OutputType.BYTES));
    }
    assertThat((Long) browser.executeScript("return document.querySelectorAll('*').length"))
        .isLessThan(MAX_NODES);
    // In a log of local mode Spark has the driver, too.
    assertThat(text("#rdma-shuffle")).containsPattern("(?s)50 of 2000 are shown.*50 of 171[56] ");
    browser.executeScript("document.querySelector('#rdma-shuffle summary').click()");
    assertThat(browser.executeScript(PROBLEMS)).as("with ended executors").isEqualTo(List.of());
    assertThat(browser.executeScript(UNSORTED)).isEqualTo(List.of());
    browser.get(url + "?all=true");
    assertThat(browser.findElements(By.cssSelector("#rdma-stages tbody tr"))).hasSize(2_000);
    assertThat(browser.manage().logs().get(LogType.BROWSER).getAll())
        .as("messages on the console")
        .isEmpty();
  }

  private Process start(
      Path home, String mainClass, Map<String, String> variables, List<String> arguments)
      throws Exception {
    Process process =
        new SparkLauncherCommand(home, Path.of(System.getProperty("java.home")))
            .prepare(mainClass, arguments, variables, directory.resolve("launcher.log"))
            .redirectErrorStream(true)
            .start();
    processes.add(process);
    return process;
  }

  /** Reads what the process prints until a line matches; returns what is in its parentheses. */
  private static String awaitLine(Process process, String pattern) {
    return process
        .inputReader()
        .lines()
        .map(Pattern.compile(pattern)::matcher)
        .filter(Matcher::find)
        .findFirst()
        .orElseThrow()
        .group(1);
  }

  /** Forwards what is below the base path, and nothing else. */
  private static HttpServer proxy(String target) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext(
        BASE + "/",
        exchange -> {
          String path = exchange.getRequestURI().toString().substring(BASE.length());
          URLConnection page = URI.create(target + path).toURL().openConnection();
          byte[] content = page.getInputStream().readAllBytes();
          exchange.getResponseHeaders().set("Content-Type", page.getContentType());
          exchange.sendResponseHeaders(200, content.length);
          exchange.getResponseBody().write(content);
          exchange.close();
        });
    server.start();
    return server;
  }
}
