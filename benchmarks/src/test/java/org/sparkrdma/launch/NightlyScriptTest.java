// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.launch.Script.Outcome;

/** The script that starts all nightly tests, with a build that only prints its arguments. */
@Timeout(60)
class NightlyScriptTest {
  private static final String SCRIPT = ".ci/nightly";

  @TempDir private Path directory;

  @Test
  void shouldRunTheOtherPartsAfterOneThatFails() throws Exception {
    build("echo build \"$@\"; [[ $* != *suites* ]] || exit 7");

    Outcome all = run();

    assertThat(all.exitCode()).isEqualTo(1);
    assertThat(all.output().lines().filter(line -> line.startsWith("build"))).hasSize(13);
    assertThat(all.output())
        .contains("nightly: suites failed with exit code 7", "nightly: guest passed")
        .endsWith("nightly: failed: suites\n");
  }

  /** A part fails whose selection finds no test, but only at night. */
  @Test
  void shouldSelectTestsThatExist() throws Exception {
    String commands = Script.run(Map.of(), SCRIPT, "--print").output();
    String ofCi = Files.readString(Path.of("..", ".ci/run"));
    Matcher selections = Pattern.compile("-D(?:it[.])?test=([\\w,.*]+)").matcher(commands + ofCi);
    Set<String> names = new TreeSet<>();
    while (selections.find()) {
      names.addAll(List.of(selections.group(1).split(",")));
    }
    // Stands for none.
    names.removeAll(Set.of("NoneTest", "NameThatIsGone"));
    assertThat(names).contains("HostilePeerTest", "YarnIT");
    try (Stream<Path> files = Files.walk(Path.of(".."))) {
      Set<String> sources =
          files
              .filter(file -> file.toString().matches(".*/src/test/.*[.](java|scala)"))
              .map(file -> file.getFileName().toString().replaceFirst("[.](java|scala)$", ""))
              .collect(Collectors.toSet());
      for (String name : names) {
        String simple = name.substring(name.lastIndexOf('.') + 1);
        assertThat(sources).as(name).anyMatch(one -> one.matches(simple.replace("*", ".*")));
      }
    }
  }

  private void build(String lines) throws IOException {
    Files.createDirectories(directory.resolve(".ci"));
    for (String script : List.of("mvnw", "bench", ".ci/bare", ".ci/release", ".ci/stress")) {
      Path file = Files.writeString(directory.resolve(script), "#!/bin/bash\n" + lines + "\n");
      assertThat(file.toFile().setExecutable(true)).isTrue();
    }
  }

  /** Runs a copy of the script, which changes into the folder above its own. */
  private Outcome run() throws Exception {
    Path copy = directory.resolve(SCRIPT);
    Files.createDirectories(copy.getParent());
    Files.copy(Path.of("..", SCRIPT), copy, StandardCopyOption.REPLACE_EXISTING);
    return Script.run(Map.of(), copy.toString());
  }
}
