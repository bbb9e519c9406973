// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.tools.collect.AddressMask;
import org.sparkrdma.shuffle.tools.collect.Archive;
import org.sparkrdma.shuffle.tools.engines.FileErrors;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options of {@code doctor} for an archive about this machine. Confined to the main thread. */
final class CollectOptions {
  private static final String DEFAULT = "";

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--collect",
      paramLabel = "FILE",
      arity = "0..1",
      fallbackValue = DEFAULT,
      description =
          "Pack what a maintainer needs to judge a card into a new zip file,"
              + " rdma-doctor-TIME.zip by default. IP and hardware addresses and the name of this"
              + " host are replaced; read it before you send it.")
  private String file;

  @Option(
      names = "--with-addresses",
      description = "Keep addresses, GIDs, GUIDs and the name of this host in that file.")
  private boolean withAddresses;

  boolean collects() {
    if (withAddresses && file == null) {
      throw new ParameterException(
          spec.commandLine(), "--with-addresses has a meaning with --collect only");
    }
    return file != null;
  }

  boolean withAddresses() {
    return withAddresses;
  }

  Path path() {
    if (file.equals(DEFAULT)) {
      String time = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString().replace(":", "");
      return Path.of("rdma-doctor-" + time + ".zip");
    }
    try {
      return Path.of(file);
    } catch (InvalidPathException e) {
      throw new ParameterException(
          spec.commandLine(), "Cannot write --collect " + file + ": " + FileErrors.reason(e), e);
    }
  }

  /** Creates the archive, before the work begins. */
  Archive create(Path path, SystemFiles files) {
    try {
      return Archive.create(path, withAddresses ? null : new AddressMask(files));
    } catch (IOException e) {
      throw new ParameterException(
          spec.commandLine(), "Cannot write --collect " + path + ": " + reason(path, e), e);
    }
  }

  private static String reason(Path path, IOException e) {
    if (!(e instanceof NoSuchFileException)) {
      return FileErrors.reason(e);
    }
    return Files.isDirectory(path.toAbsolutePath().getParent())
        ? "its folder takes no new files"
        : "its folder does not exist";
  }
}
