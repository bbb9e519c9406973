// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.GeneratedPage;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.spi.VerbsProvider;

class ConfigurationPageTest {
  private static final Path PAGE = Path.of("..", "docs", "configuration.md");

  @Test
  void shouldMatchThePageGeneratedFromTheSettings() throws IOException {
    GeneratedPage.shouldBe(PAGE, page());
  }

  @Test
  void shouldNameEveryKeyInLowerCaseWordsSeparatedByDots() {
    List<String> keys = new ArrayList<>();
    Stream.of(ShuffleSetting.values()).map(ShuffleSetting::key).forEach(keys::add);
    for (VerbsProvider provider : Verbs.providers()) {
      provider.settings().forEach(setting -> keys.add(ShuffleSetting.PREFIX + setting.key()));
    }
    assertThat(keys).isNotEmpty().allMatch(key -> key.matches("[a-z]+(\\.[a-z]+)*"));
  }

  /** The control, the effect of a change, and when to change it. */
  @Test
  void shouldDescribeEverySettingInThreeSentences() {
    List<String> meanings = new ArrayList<>();
    Stream.of(ShuffleSetting.values()).map(ShuffleSetting::meaning).forEach(meanings::add);
    for (VerbsProvider provider : Verbs.providers()) {
      provider.settings().forEach(setting -> meanings.add(setting.meaning()));
    }
    assertThat(meanings)
        .isNotEmpty()
        .allSatisfy(
            meaning -> {
              assertThat(meaning).startsWith("Controls ").endsWith(".");
              assertThat(meaning.split("\\. (?=[A-Z`])")).hasSizeGreaterThanOrEqualTo(3);
            });
  }

  private static String page() {
    StringBuilder page = new StringBuilder();
    page.append(
        """
        # Configuration

        <!-- Generated from the settings in the code by ConfigurationPageTest; do not edit. -->

        The driver reads and checks all settings when the application starts. An unknown key under
        `spark.shuffle.rdma.` or a wrong value ends the application. The error names the key, the
        value, the allowed values and the most similar key.

        No key on this page must be set. Those that may depend on the cluster are:

        | Your cluster | Keys, without `spark.shuffle.rdma.` |
        |---|---|
        | the first application on it, or executors without RDMA | `doctor` |
        | several cards, ports or addresses on a host ([networks.md](networks.md#several-cards-in-a-host)) | `listen.address`, `device`, `rails.routed` |
        | a RoCE network with a DSCP for RDMA ([networks.md](networks.md#what-lossless-ethernet-needs)) | `tos` |
        | encryption of Spark's network; iWARP; RoCE with some drivers ([security.md](security.md#what-to-set)) | `fabric.trusted` |
        | local directories in memory ([troubleshooting.md](troubleshooting.md#rdma-is-on-and-many-blocks-use-tcp)) | `pinned.max` |
        | Linux before 6.2, and local directories on a network file system other than NFS ([tuning.md](tuning.md#linux-before-62)) | `serve` |

        All others are for tuning: [tuning.md](tuning.md) says when to change which. A number of bytes without a unit
        is in bytes. A time needs a unit, and `m` is minutes.

        ## The plug-in

        """);
    tableHead(page);
    for (ShuffleSetting setting : ShuffleSetting.values()) {
      row(page, setting.key(), setting.defaultText(), setting.allowed(), setting.meaning());
    }
    for (VerbsProvider provider : Verbs.providers()) {
      engine(page, provider);
    }
    page.append(
        """

        ## Keys of SparkRDMA

        Accepted without effect, and reported once.

        | Key | Replacement |
        |---|---|
        """);
    FormerSettings.all()
        .forEach((name, text) -> page.append(line(code(ShuffleSetting.PREFIX + name), text)));
    return page.toString();
  }

  private static void engine(StringBuilder page, VerbsProvider provider) {
    page.append("\n## The engine ").append(code(provider.name())).append("\n\n");
    tableHead(page);
    for (var setting : provider.settings()) {
      row(
          page,
          ShuffleSetting.PREFIX + setting.key(),
          setting.defaultValue(),
          setting.allowed(),
          setting.meaning());
    }
  }

  private static void tableHead(StringBuilder page) {
    page.append("| Key | Default | Allowed | Meaning |\n|---|---|---|---|\n");
  }

  private static void row(
      StringBuilder page, String key, String defaultText, String allowed, String meaning) {
    String shown = defaultText.isEmpty() ? "(empty)" : code(defaultText);
    page.append(line(code(key), shown, allowed, meaning));
  }

  private static String line(String... cells) {
    return "| " + String.join(" | ", cells) + " |\n";
  }

  private static String code(String text) {
    return "`" + text + "`";
  }
}
