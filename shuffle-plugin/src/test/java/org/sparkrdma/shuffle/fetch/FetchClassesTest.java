// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FetchClassesTest {
  @Test
  void shouldLoadTheClassesOfAFetchAndOfItsEngineOnly(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("plug-in.jar");
    try (OutputStream out = Files.newOutputStream(file);
        JarOutputStream jar = new JarOutputStream(out)) {
      for (String name :
          List.of(
              "shuffle/transport/Peer.class",
              "verbs/VerbsException.class",
              "verbs/soft/SoftRegion.class",
              "verbs/ibverbs/IsNotThere.class",
              "shuffle/tools/IsNotThere.class",
              "shuffle/fetch/notes.txt")) {
        jar.putNextEntry(new JarEntry("org/sparkrdma/" + name));
      }
    }
    assertThat(FetchClasses.load(file, "soft")).isEqualTo(3);
  }
}
