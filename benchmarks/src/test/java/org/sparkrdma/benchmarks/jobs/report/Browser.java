// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A headless Chromium that loads pages from files and reaches no host.
 *
 * @param directory for its profiles and output
 */
record Browser(Path directory) {
  static final Path PROGRAM = Path.of("/usr/bin/chromium");

  private static final long LIMIT_SECONDS = 60;

  /** Options that turn off what Chromium would use a network for. */
  private static final List<String> OPTIONS =
      List.of(
          "--headless",
          "--no-sandbox",
          "--disable-gpu",
          "--enable-logging=stderr",
          "--disable-quic",
          "--disable-background-networking",
          "--disable-component-update",
          "--disable-sync",
          "--no-first-run",
          "--hide-scrollbars",
          "--host-resolver-rules=MAP * ~NOTFOUND",
          "--virtual-time-budget=5000");

  /**
   * A page after its scripts.
   *
   * @param document as the browser has it then
   * @param console what scripts and browser wrote to the console
   */
  record Loaded(String document, List<String> console) {}

  /** Loads a page in a window of the usual width. */
  Loaded load(Path page) {
    return load(page, 1_240);
  }

  /** Loads a page in a window of this width, at least 500 pixels. */
  Loaded load(Path page, int width) {
    Path document = directory.resolve("document.html");
    List<String> errors =
        browse(page, document, "--dump-dom", "--window-size=%d,860".formatted(width));
    try {
      return new Loaded(
          Files.readString(document),
          errors.stream().filter(line -> line.contains(":CONSOLE")).toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Takes a picture of the beginning of a page. */
  void savePicture(Path page, Path picture, int width, int height) {
    browse(
        page,
        directory.resolve("picture.log"),
        "--screenshot=" + picture,
        "--window-size=%d,%d".formatted(width, height));
  }

  /** Returns the lines of the error stream. */
  private List<String> browse(Path page, Path output, String... options) {
    List<String> command = new ArrayList<>(List.of(PROGRAM.toString()));
    command.addAll(OPTIONS);
    command.addAll(List.of(options));
    Path errors = directory.resolve("errors.log");
    try {
      command.add("--user-data-dir=" + Files.createTempDirectory(directory, "profile"));
      command.add(page.toUri().toString());
      Process process =
          new ProcessBuilder(command)
              .redirectOutput(output.toFile())
              .redirectError(errors.toFile())
              .start();
      try {
        if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
          throw new AssertionError("Chromium is not done after " + LIMIT_SECONDS + " s");
        }
      } finally {
        process.destroyForcibly();
      }
      return Files.readAllLines(errors);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
  }
}
