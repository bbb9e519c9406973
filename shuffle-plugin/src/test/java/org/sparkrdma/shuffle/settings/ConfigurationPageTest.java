// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.GeneratedPage;

class ConfigurationPageTest {
  private static final String CONTROLS = "Controls ";
  private static final Pattern TIME = Pattern.compile("a time from (\\S+ to \\S+)");
  private static final Path PAGE = Path.of("..", "docs", "configuration.md");
  private static final Path MIGRATION = Path.of("..", "docs", "migration.md");

  @Test
  void shouldMatchThePageGeneratedFromTheSettings() throws IOException {
    GeneratedPage.shouldBe(PAGE, page());
  }

  @Test
  void shouldHaveARowForEachReplacementOfFormerKeys() throws IOException {
    Map<String, String> keys = new TreeMap<>(Comparator.reverseOrder());
    FormerSettings.all()
        .forEach(
            (key, replacement) -> keys.merge(replacement, "`" + key + "`", (a, b) -> a + ", " + b));
    keys.replaceAll((here, names) -> here.startsWith("not needed") ? "all others" : names);
    String rows =
        keys.entrySet().stream()
            .map(entry -> "| %s | %s |\n".formatted(entry.getValue(), entry.getKey()))
            .collect(Collectors.joining());
    GeneratedPage.partShouldBe(
        MIGRATION,
        "Former keys",
        "ConfigurationPageTest",
        "\n| Keys of SparkRDMA | Here |\n|---|---|\n" + rows + "\n");
  }

  private static String page() {
    StringBuilder page = new StringBuilder();
    page.append(
        """
        # Configuration

        <!-- Generated from the settings in the code by ConfigurationPageTest; do not edit. -->

        No key is required. Set one like any Spark key: `--conf spark.shuffle.rdma.mode=off`.
        The driver checks all keys when the application starts. An unknown key or a wrong value stops it with
        an error that names the key and the allowed values.

        Bytes and times have a unit (`512m`, `4g`; `500ms`, `30s`). All keys begin with `spark.shuffle.rdma.`. [All pages](README.md)

        | Key | Default | Controls | Change |
        |---|---|---|---|
        """);
    for (ShuffleSetting setting : ShuffleSetting.values()) {
      if (setting.isPublic()) {
        String[] sentences = sentences(setting.meaning());
        page.append(
            "| `%s` | `%s`%s | %s | %s |\n"
                .formatted(
                    setting.key().substring(ShuffleSetting.PREFIX.length()),
                    setting.defaultText(),
                    range(setting),
                    sentences[0].substring(CONTROLS.length()),
                    sentences[sentences.length - 1].replaceFirst("\\.$", "")));
      }
    }
    page.append(
        """

        Every other key under this prefix is internal and may change in any version. Keys of SparkRDMA are
        accepted without effect ([replacements](migration.md#key-by-key)).

        More about single keys:

        - `device`, `listen.address`, `rails.routed`: [several cards](networks.md#several-cards-in-a-host)
        - `tos`: [RoCE](networks.md#roce); `ack.timeout`: [lost packets](networks.md#lost-packets)
        - `fabric.trusted`: [security](security.md#what-to-set)
        - `pinned.max`, `serve`, `reads.bytes.max`, `connections.max`: [tuning](tuning.md)
        - `mode`: [RDMA or nothing](install.md#rdma-or-nothing), [how to turn it off](faq.md#how-do-i-turn-it-off)
        """);
    return page.toString();
  }

  /** The limits of a time. */
  private static String range(ShuffleSetting setting) {
    Matcher time = TIME.matcher(setting.allowed());
    return time.find() ? " (" + time.group(1) + ")" : "";
  }

  /** The sentences of a meaning, each but the last without its full stop. */
  private static String[] sentences(String meaning) {
    return meaning.split("\\. (?=[A-Z`])");
  }
}
