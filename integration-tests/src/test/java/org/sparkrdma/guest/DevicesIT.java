// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Compares the attributes that the command {@code devices} reports with {@code ibv_devinfo -v}. */
@Execution(ExecutionMode.CONCURRENT)
@Timeout(200)
final class DevicesIT {
  private static final String SEPARATOR = "=====";

  private static final Pattern ATTRIBUTE = Pattern.compile("\t+(\\w+):\\s*(.*)");
  private static final Pattern NAME_AND_CODE = Pattern.compile("(.*\\S) \\(\\d+\\)");

  @ParameterizedTest
  @CsvSource({"rocev2, rxe0", "iwarp, siw0"})
  void shouldShowWhatIbvDevinfoShows(String transport, String device) throws Exception {
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
    assertThat(shown)
        .containsOnlyKeys("fw_ver", "vendor_id", "vendor_part_id", "max_mtu", "link_layer");
    shown.forEach(
        (name, words) ->
            assertThat(words).as(name + " of " + device).isEqualTo(expected.get(name)));
  }

  /** The words of each attribute. */
  private static Map<String, Set<String>> ofDevinfo(String text) {
    Map<String, Set<String>> attributes = new TreeMap<>();
    for (String line : text.split("\n", -1)) {
      Matcher matcher = ATTRIBUTE.matcher(line);
      if (matcher.matches()) {
        attributes.put(matcher.group(1), words(matcher.group(2)));
      }
    }
    return attributes;
  }

  /** The name of a code where the command has one. */
  private static Set<String> words(String value) {
    Matcher matcher = NAME_AND_CODE.matcher(value);
    return Set.of(normal(matcher.matches() ? matcher.group(1) : value));
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
          addAll(attributes, device.path("reported"));
          addAll(attributes, device.path("ports").path(0).path("reported"));
        }
      }
    }
    return attributes;
  }

  private static void addAll(Map<String, Set<String>> attributes, JsonNode group) {
    for (Map.Entry<String, JsonNode> attribute : group.properties()) {
      attributes.put(attribute.getKey(), Set.of(normal(attribute.getValue().asText())));
    }
  }
}
