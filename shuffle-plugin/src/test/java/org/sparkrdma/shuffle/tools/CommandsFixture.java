// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Commands of the jar with a file of settings that selects the loopback engine. */
@Timeout(60)
abstract class CommandsFixture {
  @TempDir Path directory;
  final StringWriter output = new StringWriter();
  final StringWriter errors = new StringWriter();
  String soft;

  @BeforeEach
  void writeSettings() throws IOException {
    soft =
        settings(
            """
            spark.shuffle.manager org.sparkrdma.shuffle.RdmaShuffleManager
            spark.shuffle.rdma.engine soft
            spark.local.dir DIRECTORY
            """
                .replace("DIRECTORY", directory.toString()));
  }

  int run(String... arguments) {
    return Commands.run(new PrintWriter(output, true), new PrintWriter(errors, true), arguments);
  }

  String settings(String text) throws IOException {
    return Files.writeString(Files.createTempFile(directory, "spark", ".conf"), text).toString();
  }
}
