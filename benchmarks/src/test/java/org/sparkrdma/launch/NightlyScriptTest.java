// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
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

/** The script that starts all nightly tests. */
@Timeout(60)
class NightlyScriptTest {
  private static final String SCRIPT = ".ci/nightly";

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
}
