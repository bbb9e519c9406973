// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest.reads;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;

/** The loop in C: a connected program that executes commands line by line. */
final class CReader implements AutoCloseable {
  private final Process process;
  private final BufferedReader answers;
  private final PrintStream questions;

  private CReader(Process process) {
    this.process = process;
    answers = process.inputReader(UTF_8);
    questions = new PrintStream(process.getOutputStream(), true, UTF_8);
  }

  static CReader connect(Path program, String address) throws IOException {
    var reader =
        new CReader(
            new ProcessBuilder(program.toString(), "read", address)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    reader.answer();
    return reader;
  }

  /** Nanoseconds of all READs or of the median one. */
  long read(ReadCase one) throws IOException {
    questions.println(
        one.mode()
            + (" " + one.lengthBytes() + " " + one.depth())
            + (" " + one.batch() + " " + one.count()));
    return Long.parseLong(answer());
  }

  private String answer() throws IOException {
    String line = answers.readLine();
    if (line == null) {
      throw new IOException("the C loop has ended: pid=" + process.pid());
    }
    return line;
  }

  @Override
  public void close() {
    process.destroy();
  }
}
