// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The script of the archive, before it starts Java, and its help against the code. */
@Timeout(30)
class CardScriptTest {
  private static final String SCRIPT = Path.of("../card").toAbsolutePath().toString();

  private record Outcome(int exitCode, String output) {}

  private static Outcome run(Map<String, String> environment, String... arguments)
      throws IOException, InterruptedException {
    return run(SCRIPT, environment, arguments);
  }

  private static Outcome run(String script, Map<String, String> environment, String... arguments)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder("bash", script);
    builder.command().addAll(Arrays.asList(arguments));
    builder.environment().putAll(environment);
    Process process = builder.redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Outcome(process.waitFor(), output);
  }

  @Test
  void shouldDescribeEveryOptionAndGroupWithoutJava() throws Exception {
    Outcome help = run(Map.of("JAVA_HOME", "/no/such/java"), "mlx5_0", "--help");
    assertThat(help.exitCode()).isZero();
    assertThat(help.output()).startsWith("Usage: ./card [DEVICE] [options]\n");
    var command =
        new CommandLine(
            new CardCommand(List::of, new HostFacts(Path.of("/")), FakePrograms.passing()));
    assertThat(command.getCommandSpec().options())
        .isNotEmpty()
        .allSatisfy(
            option -> assertThat(help.output()).contains("\n  " + option.longestName() + " "));
  }

  /** As with too little memory, or with libraries of another system. */
  @Test
  void shouldSayInTheArchiveThatJavaDoesNotStart(@TempDir Path archive) throws Exception {
    Path script = Files.copy(Path.of(SCRIPT), archive.resolve("card"));
    Files.createDirectories(archive.resolve("lib"));
    Path java = Files.createDirectories(archive.resolve("java/bin")).resolve("java");
    Files.writeString(java, "#!/bin/bash\necho 'could not reserve the heap' >&2\nexit 1\n");
    assertThat(java.toFile().setExecutable(true)).isTrue();
    Outcome outcome =
        run(script.toString(), Map.of("JAVA_HOME", archive.resolve("java").toString()), "--facts");
    assertThat(outcome.output())
        .isEqualTo("card: " + java + " does not start: could not reserve the heap\n");
    assertThat(outcome.exitCode()).isEqualTo(2);
  }

  /** They are in the test jar of the verbs layer, which this module cannot compile with. */
  @Test
  void shouldKnowTheGroupsOfTheSuite() throws Exception {
    Class<?> suite = Class.forName("org.sparkrdma.verbs.contract.VerbsContractSuite");
    String help = run(Map.of(), "--help").output();
    assertThat(suite.getDeclaredClasses())
        .allSatisfy(group -> assertThat(help).contains(group.getSimpleName()));
    Class.forName("org.sparkrdma.verbs.contract.ContractMain");
    Class<?> onCard = Class.forName("org.sparkrdma.verbs.ibverbs.IbverbsVerbsContractOnCard");
    assertThat(onCard.getSuperclass()).isEqualTo(suite);
  }
}
