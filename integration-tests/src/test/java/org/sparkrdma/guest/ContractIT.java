/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The verbs contract over the ibverbs engine of the plug-in's jar, on the guest's devices. */
@Timeout(420)
final class ContractIT {
  private static final String MAIN = "org.sparkrdma.verbs.contract.ContractMain";
  private static final String ENGINE = "org.sparkrdma.verbs.ibverbs.";
  private static final String SUMMARY = "contract: ";

  @TempDir private Path directory;

  @ParameterizedTest
  @CsvSource({"rocev2, IbverbsVerbsContractOnRoceV2", "iwarp, IbverbsVerbsContractOnIwarp"})
  void shouldKeepTheContract(String transport, String tests) throws Exception {
    JsonNode summary = run(guest(transport), tests, classPath());
    int passed = summary.path("passed").asInt();
    GuestReport.add(
        transport,
        result ->
            result
                .put("kernel", summary.path("kernel").asText())
                .put("contractTests", passed + summary.path("failed").asInt())
                .put("contractPassed", passed)
                .put("contractSkipped", summary.path("skipped").asInt()));
    assertThat(passed).isGreaterThan(80);
  }

  @Test
  void shouldTellTwoDevicesApart() throws Exception {
    assertThat(run(guest("both"), "TwoDevices", classPath()).path("passed").asInt()).isPositive();
  }

  @Test
  void shouldSayHowToRaiseALimitOfLockedMemoryThatIsTooLow() throws Exception {
    JsonNode summary =
        run(
            guest("rocev2").with("--user", "nobody").with("--ulimit-memlock", "8192"),
            "MemlockOnRoceV2",
            readableByAll(classPath()));
    assertThat(summary.path("passed").asInt()).isPositive();
  }

  private static Guest guest(String transport) {
    return Guest.nodes(1)
        .memory("4G")
        .timeout(Duration.ofMinutes(6))
        .with("--transport", transport);
  }

  private static JsonNode run(Guest guest, String tests, String classPath)
      throws IOException, InterruptedException {
    GuestResult result =
        guest.run(
            Build.property("it.jdk22.home") + "/bin/java",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Xmx512m",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            classPath,
            MAIN,
            ENGINE + tests);
    assertThat(result.exitCode()).as(result.output()).isZero();
    String line =
        result.node(1).lines().stream()
            .filter(one -> one.startsWith(SUMMARY))
            .findFirst()
            .orElseThrow();
    return new ObjectMapper().readTree(line.substring(SUMMARY.length()));
  }

  private static String classPath() throws IOException {
    Path verbs = Path.of(Build.property("it.verbs.directory"));
    return String.join(
        ":",
        Build.property("it.plugin.jar"),
        verbs.resolve("java22-test-classes").toString(),
        verbs.resolve("test-classes").toString(),
        Files.readString(verbs.resolve("test.classpath")).strip());
  }

  /** A copy for a user who may not look into the builder's home. */
  private String readableByAll(String classPath) throws IOException {
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    List<String> copied = new ArrayList<>();
    for (String entry : classPath.split(":", -1)) {
      Path from = Path.of(entry);
      Path to = directory.resolve(copied.size() + "-" + from.getFileName());
      try (Stream<Path> files = Files.walk(from)) {
        for (Path file : (Iterable<Path>) files::iterator) {
          Files.copy(file, to.resolve(from.relativize(file).toString()));
        }
      }
      copied.add(to.toString());
    }
    return String.join(":", copied);
  }
}
