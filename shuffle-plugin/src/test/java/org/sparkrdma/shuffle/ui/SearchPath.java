// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** Programs that a machine may have. Stateless. */
final class SearchPath {
  private SearchPath() {}

  /** The program of this name that a shell would run. */
  static Optional<Path> find(String program) {
    return Stream.of(System.getenv("PATH").split(File.pathSeparator))
        .map(folder -> Path.of(folder, program))
        .filter(Files::isExecutable)
        .findFirst();
  }
}
