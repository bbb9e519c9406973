// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The system's libibverbs and librdmacm with their versions, and the libraries for cards. */
final class LibrariesCheck implements Check {
  private static final String INSTALL =
      "apt install libibverbs1 librdmacm1 ibverbs-providers, or dnf install libibverbs librdmacm";
  private static final String PLUGINS = "libibverbs";
  private static final String SUFFIX = "-rdmav";

  @Override
  public String name() {
    return "libraries";
  }

  @Override
  public List<Finding> run(Facts facts) {
    List<Finding> findings = new ArrayList<>();
    for (String file : List.of("libibverbs.so.1", "librdmacm.so.1")) {
      findings.add(
          find(facts, file)
              .map(path -> Finding.ok(file + " is " + path + "."))
              .orElseGet(() -> facts.against(file + " was not found.", INSTALL)));
    }
    if (findings.stream().allMatch(finding -> finding.level() == Level.OK)) {
      List<String> drivers = drivers(facts);
      findings.add(
          drivers.isEmpty()
              ? facts.against(
                  "libibverbs has no part for any card.",
                  "apt install ibverbs-providers, or dnf install libibverbs")
              : Finding.ok("libibverbs has parts for: " + String.join(" ", drivers) + "."));
    }
    return findings;
  }

  /** The file that a library's name leads to, whose name has the version. */
  private static Optional<Path> find(Facts facts, String file) {
    Path root = facts.files().root();
    return folders(facts)
        .map(folder -> root.resolve(folder).resolve(file))
        .filter(Files::exists)
        .findFirst()
        .map(
            found -> {
              try {
                return Path.of("/").resolve(root.toRealPath().relativize(found.toRealPath()));
              } catch (IOException e) {
                return found;
              }
            });
  }

  private static List<String> drivers(Facts facts) {
    return folders(facts)
        .flatMap(folder -> facts.files().names(folder + "/" + PLUGINS).stream())
        .filter(name -> name.startsWith("lib") && name.contains(SUFFIX))
        .map(name -> name.substring("lib".length(), name.indexOf(SUFFIX)))
        .distinct()
        .sorted()
        .toList();
  }

  /** Folders of the dynamic linker, without the first slash. */
  private static Stream<String> folders(Facts facts) {
    String triplet =
        facts.java().getOrDefault("os.arch", "").equals("aarch64")
            ? "aarch64-linux-gnu"
            : "x86_64-linux-gnu";
    Stream<String> usual =
        Stream.of("lib64", "usr/lib64", "lib/" + triplet, "usr/lib/" + triplet, "lib", "usr/lib");
    Stream<String> configured =
        facts.files().names("etc/ld.so.conf.d").stream()
            .flatMap(name -> facts.files().lines("etc/ld.so.conf.d/" + name).stream())
            .map(String::trim);
    Stream<String> variable =
        Stream.of(facts.environment().getOrDefault("LD_LIBRARY_PATH", "").split(":", -1));
    return Stream.concat(
        Stream.concat(variable, configured)
            .filter(folder -> folder.startsWith("/"))
            .map(folder -> folder.substring(1)),
        usual);
  }
}
