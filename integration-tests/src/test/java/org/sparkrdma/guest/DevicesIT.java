// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Compares every attribute that the command {@code devices} shows with {@code ibv_devinfo -v}. */
@Execution(ExecutionMode.CONCURRENT)
@Timeout(200)
final class DevicesIT {
  private static final String SEPARATOR = "=====";

  private static final Pattern ATTRIBUTE = Pattern.compile("\t+(\\w+):\\s*(.*)");
  private static final Pattern NAME_AND_CODE = Pattern.compile("(.*\\S) \\((\\d+)\\)");

  /** Attributes of Ethernet packets without RDMA, and lines that only the command prints. */
  private static final Set<String> LEFT_OUT =
      Set.of(
          "transport",
          "device_cap_flags_ex",
          "tso_caps",
          "max_tso",
          "rss_caps",
          "max_rwq_indirection_tables",
          "max_rwq_indirection_table_size",
          "rx_hash_function",
          "rx_hash_fields_mask",
          "max_wq_type_rq",
          "packet_pacing_caps",
          "qp_rate_limit_min",
          "qp_rate_limit_max",
          "port",
          "port_cap_flags2");

  @ParameterizedTest
  @CsvSource({"rocev2, rxe0, 65", "iwarp, siw0, 64"})
  void shouldShowWhatIbvDevinfoShows(String transport, String device, int least) throws Exception {
    GuestResult result =
        GuestTests.guest(transport, Duration.ofSeconds(150))
            .bash(
                "ibv_devinfo -v; echo %s; %s/bin/java %s -jar %s devices --json; echo %s"
                    .formatted(
                        SEPARATOR,
                        GuestJdk.home(),
                        GuestJdk.START_SOON,
                        Build.property("it.plugin.jar"),
                        SEPARATOR));

    assertThat(result.exitCode()).as(result.output()).isZero();
    String[] parts = String.join("\n", result.node(1).lines()).split(SEPARATOR + "\n?", -1);
    Map<String, Set<String>> expected = ofDevinfo(parts[0]);
    Map<String, Set<String>> shown = ofDevices(parts[1], device);
    Set<String> compared = new TreeSet<>(expected.keySet());
    compared.removeAll(LEFT_OUT);
    for (String name : compared) {
      assertThat(shown.get(name)).as(name + " of " + device).isEqualTo(expected.get(name));
    }
    System.out.println("devices: device=" + device + " attributes as in ibv_devinfo: " + compared);
    assertThat(compared).hasSizeGreaterThanOrEqualTo(least);
  }

  /** The words of each attribute; flags are lines of their own below it. */
  private static Map<String, Set<String>> ofDevinfo(String text) {
    Map<String, Set<String>> attributes = new TreeMap<>();
    Set<String> last = new TreeSet<>();
    for (String line : text.split("\n", -1)) {
      Matcher matcher = ATTRIBUTE.matcher(line);
      if (matcher.matches()) {
        last = new TreeSet<>();
        addWord(last, matcher.group(1), matcher.group(2));
        attributes.put(matcher.group(1), last);
      } else if (line.startsWith("\t\t\t\t") && !line.contains("Unknown flags")) {
        last.add(line.strip());
      }
    }
    attributes.values().forEach(words -> words.remove("NO SUPPORT"));
    return attributes;
  }

  /** The name of a code where the command has one; of this one only its code is a number. */
  private static void addWord(Set<String> words, String name, String value) {
    Matcher matcher = NAME_AND_CODE.matcher(value);
    if (matcher.matches()) {
      words.add(normal(matcher.group(name.equals("max_vl_num") ? 2 : 1)));
    } else if (!value.isEmpty()) {
      words.add(normal(value));
    }
  }

  /** Numbers in decimal, whatever their leading zeros. */
  private static String normal(String value) {
    return value.matches("0[xX][0-9a-fA-F]+")
        ? Long.toUnsignedString(Long.parseUnsignedLong(value.substring(2), 16))
        : value;
  }

  private static Map<String, Set<String>> ofDevices(String json, String name) throws Exception {
    Map<String, Set<String>> attributes = new TreeMap<>();
    for (JsonNode engine : new ObjectMapper().readTree(json).path("engines")) {
      for (JsonNode device : engine.path("devices")) {
        if (device.path("name").asText().equals(name)) {
          device.path("reported").forEach(group -> addAll(attributes, group));
          addAll(attributes, device.path("ports").path(0).path("reported"));
        }
      }
    }
    return attributes;
  }

  private static void addAll(Map<String, Set<String>> attributes, JsonNode group) {
    for (Map.Entry<String, JsonNode> attribute : group.properties()) {
      JsonNode value = attribute.getValue();
      Set<String> words = new TreeSet<>();
      if (value.isArray()) {
        value.forEach(one -> words.add(normal(one.asText())));
      } else {
        words.add(normal(value.asText()));
      }
      if (attribute.getKey().endsWith("_odp_caps")) {
        // The command names the bits only.
        words.removeIf(word -> word.matches("\\d+"));
      } else if (attribute.getKey().equals("port_cap_flags")) {
        // Here it does not name them.
        words.removeIf(word -> !word.matches("\\d+"));
      }
      attributes.put(attribute.getKey(), words);
    }
  }
}
