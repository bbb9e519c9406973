// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.launch.Script.Outcome;

/** The script that starts all nightly tests, with a build that only prints its arguments. */
@Timeout(60)
class NightlyScriptTest {
  private static final String SCRIPT = ".ci/nightly";

  @TempDir private Path directory;

  @Test
  void shouldExplainItsParts() throws Exception {
    Outcome help = run("--help");

    assertThat(help.exitCode()).isZero();
    assertThat(help.output())
        .contains(SCRIPT + " [--print] [--repeat N] [--limit SECONDS] [PART ...]")
        .contains(
            "  units ", "  turns ", "  fuzz ", "  jobs ", "  suites ", "  guest ", "  regress ");
    Outcome wrong = run("gest");
    assertThat(wrong.exitCode()).isEqualTo(2);
    assertThat(wrong.output()).contains("unknown part: gest");
    for (String number : List.of("0", "two", "-1")) {
      wrong = run("--repeat", number);
      assertThat(wrong.exitCode()).isEqualTo(2);
      assertThat(wrong.output()).contains("--repeat needs a number of runs: " + number);
    }
    assertThat(run("--repeat").exitCode()).isEqualTo(2);
    wrong = run("--limit", "none");
    assertThat(wrong.exitCode()).isEqualTo(2);
    assertThat(wrong.output()).contains("--limit needs a number of seconds: none");
  }

  @Test
  void shouldPrintTheCommandOfEachPart() throws Exception {
    Outcome printed = run("--print");

    assertThat(printed.exitCode()).isZero();
    List<String> commands = printed.output().lines().toList();
    assertThat(commands).hasSize(7).anyMatch(command -> command.contains(" -Pfuzz "));
  }

  @Test
  void shouldSelectEachTestThatIsTaggedNightly() throws Exception {
    List<NightlyCommand> commands =
        run("--print").output().lines().map(NightlyCommand::parse).toList();
    List<NightlyTag> tags = NightlyTag.all();

    assertThat(tags).hasSizeGreaterThan(15);
    assertThat(tags.stream().filter(tag -> commands.stream().noneMatch(one -> one.selects(tag))))
        .as("tagged nightly, but selected by no part of %s", SCRIPT)
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          verify -pl benchmarks -Dgroups=nightly -DexcludedGroups=none -Dit.test=YarnIT   | YarnIT#shouldRun    | true
          verify -pl benchmarks -Dgroups=nightly -DexcludedGroups=none -Dit.test=Yar*     | YarnIT#shouldRun    | true
          verify -pl benchmarks -DexcludedGroups=none -Dit.test=YarnIT#shouldWait         | YarnIT#shouldRun    | false
          verify -pl benchmarks -Dgroups=nightly -DexcludedGroups=none -Dit.test=YarnIT   | MatrixIT#shouldRun  | false
          verify -pl benchmarks -Dgroups=slow -DexcludedGroups=none                       | YarnIT#shouldRun    | false
          verify -pl benchmarks -Dgroups=nightly                                          | YarnIT#shouldRun    | false
          verify -pl shuffle-plugin -DexcludedGroups=none                                 | YarnIT#shouldRun    | false
          test -pl benchmarks -DexcludedGroups=none                                       | YarnIT#shouldRun    | false
          -Psuites -Pnightly verify                                                       | YarnIT#shouldRun    | false
          test -pl benchmarks -DexcludedGroups=none                                       | RunTest#shouldRun   | true
          verify -DskipUnitTests=true -DexcludedGroups=none                               | RunTest#shouldRun   | false
          test -Pfuzz -DexcludedGroups=none                                               | RunTest#shouldRun   | false
          """)
  void shouldKnowWhatACommandSelects(String command, String test, boolean selected) {
    String[] names = test.split("#", 2);

    assertThat(
            NightlyCommand.parse("./mvnw " + command)
                .selects(new NightlyTag("benchmarks", names[0], names[1], false)))
        .isEqualTo(selected);
  }

  @Test
  void shouldKnowThatGuestTestsNeedTheirProfile() {
    NightlyTag tag = new NightlyTag("integration-tests", "LinkLocalIT", null, true);

    assertThat(NightlyCommand.parse("./mvnw verify -Pguest,nightly").selects(tag)).isTrue();
    assertThat(NightlyCommand.parse("./mvnw verify -Pguest").selects(tag)).isFalse();
    assertThat(NightlyCommand.parse("./mvnw verify -Pnightly").selects(tag)).isFalse();
  }

  @Test
  void shouldRunTheOtherPartsAfterOneThatFails() throws Exception {
    build("echo build \"$@\"; [[ $* != *suites* ]] || exit 7");

    Outcome all = run();

    assertThat(all.exitCode()).isEqualTo(1);
    assertThat(all.output().lines().filter(line -> line.startsWith("build "))).hasSize(7);
    assertThat(all.output())
        .contains("nightly: suites failed with exit code 7", "nightly: guest passed")
        .endsWith("nightly: failed: suites\n");
  }

  @Test
  void shouldEndAPartAtItsLimitAndRunTheOthers() throws Exception {
    build("[[ $* != *Pfuzz* ]] || exec sleep 600");

    Outcome outcome = run("--limit", "2", "fuzz", "units");

    assertThat(outcome.exitCode()).isEqualTo(1);
    assertThat(outcome.output())
        .contains("nightly: fuzz exceeded its limit of 2 s", "nightly: units passed")
        .endsWith("nightly: failed: fuzz\n");
  }

  @Test
  void shouldRunOnlyThePartsThatAreNamed() throws Exception {
    build("echo build \"$@\"");

    Outcome guest = run("guest");

    assertThat(guest.exitCode()).isZero();
    assertThat(guest.output().lines().filter(line -> line.startsWith("build ")))
        .containsExactly("build verify -Pguest,nightly -Dit.skipSuites=true -B -ntp");
  }

  @Test
  void shouldRepeatAllPartsAndCountTheRunsThatPass() throws Exception {
    build("echo build \"$@\"");

    Outcome all = run("--repeat", "3", "units", "fuzz");

    assertThat(all.exitCode()).isZero();
    List<String> lines = all.output().lines().filter(line -> line.startsWith("nightly: ")).toList();
    assertThat(lines).hasSize(7);
    for (int run = 0; run < 3; run++) {
      String begin = "nightly: run " + (run + 1) + " of 3: ";
      assertThat(lines.get(2 * run)).matches(begin + "units passed, \\d+ s");
      assertThat(lines.get(2 * run + 1)).matches(begin + "fuzz passed, \\d+ s");
    }
    assertThat(all.output()).endsWith("nightly: 3 of 3 runs passed\n");
  }

  @Test
  void shouldRunAllRunsAfterOneThatFails() throws Exception {
    // The second run fails.
    build("echo build \"$@\"; echo >>builds; [[ $(wc -l <builds) != 3 ]] || exit 7");

    Outcome all = run("--repeat", "3", "units", "fuzz");

    assertThat(all.exitCode()).isEqualTo(1);
    assertThat(all.output().lines().filter(line -> line.startsWith("build "))).hasSize(6);
    assertThat(all.output())
        .contains("nightly: run 2 of 3: units failed with exit code 7")
        .endsWith("nightly: failed: units in run 2\nnightly: 2 of 3 runs passed\n");
  }

  private void build(String lines) throws IOException {
    for (String script : List.of("mvnw", "bench")) {
      Path file = Files.writeString(directory.resolve(script), "#!/bin/bash\n" + lines + "\n");
      assertThat(file.toFile().setExecutable(true)).isTrue();
    }
  }

  /** Runs a copy of the script, which changes into the folder above its own. */
  private Outcome run(String... arguments) throws Exception {
    Path copy = directory.resolve(SCRIPT);
    Files.createDirectories(copy.getParent());
    Files.copy(
        DocumentationFiles.PROJECT.resolve(SCRIPT), copy, StandardCopyOption.REPLACE_EXISTING);
    String[] command = new String[arguments.length + 1];
    command[0] = copy.toString();
    System.arraycopy(arguments, 0, command, 1, arguments.length);
    return Script.run(Map.of(), command);
  }
}
