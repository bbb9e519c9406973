// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Classes that documents for contributors name in back-quotes exist in some module. */
@Timeout(60)
class DocumentedClassesTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern NAME = Pattern.compile("`([A-Z][a-z]+(?:[A-Z][a-z0-9]*)+)[`.]");

  /** Classes of Spark, of the JDK and words of the network. */
  private static final Set<String> OF_OTHERS =
      Set.of(
          "BlockFetchingListener",
          "BlockStoreClient",
          "FetchFailedException",
          "IndexShuffleBlockResolver",
          "ServiceLoader",
          "ShuffleBlockFetcherIterator",
          "VirtualMachineError");

  @Test
  void shouldNameClassesThatExist() throws IOException {
    Set<String> known = sources();
    for (String page : List.of("ARCHITECTURE.md", "CONTRIBUTING.md", "docs/dev/testing.md")) {
      Set<String> missing = new TreeSet<>();
      NAME.matcher(Files.readString(ROOT.resolve(page)))
          .results()
          .map(found -> found.group(1))
          .filter(name -> !known.contains(name) && !OF_OTHERS.contains(name))
          .forEach(missing::add);
      assertThat(missing).as(page).isEmpty();
    }
  }

  /** Names of all sources in Java and Scala. */
  private static Set<String> sources() throws IOException {
    Set<String> names = new HashSet<>();
    try (Stream<Path> modules = Files.list(ROOT)) {
      for (Path module : modules.filter(path -> Files.isDirectory(path.resolve("src"))).toList()) {
        try (Stream<Path> files = Files.walk(module.resolve("src"))) {
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> name.endsWith(".java") || name.endsWith(".scala"))
              .forEach(name -> names.add(name.substring(0, name.lastIndexOf('.'))));
        }
      }
    }
    return names;
  }
}
