// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A machine whose files are in a directory of the test. */
abstract class FakeMachineFixture {
  @TempDir Path root;
  FakeMachine machine;

  @BeforeEach
  void create() {
    machine = new FakeMachine(root);
  }

  void delete(String name) {
    assertThat(root.resolve(name).toFile().delete()).isTrue();
  }

  void link(String name, String target) throws IOException {
    Files.createSymbolicLink(root.resolve(name), Path.of(target));
  }
}
