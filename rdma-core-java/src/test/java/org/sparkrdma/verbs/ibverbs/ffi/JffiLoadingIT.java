// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.kenai.jffi.Invoker;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

/**
 * Loads jffi together with another jffi, in class loaders like Spark's, and from a file system
 * mounted with noexec.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class JffiLoadingIT {
  private static final String WORKS = "works";

  @TempDir private Path directory;

  private final List<String> options = new ArrayList<>();
  private Path workingDirectory;

  private static String jarOf(Class<?> one) {
    try {
      return Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The jars that the plug-in's jar bundles. */
  private static List<String> ours() {
    URL library = Invoker.class.getResource("/jni/x86_64-Linux/libjffi-1.2.so");
    String natives = library.getPath().replaceFirst("^file:", "").replaceFirst("!.*", "");
    return List.of(jarOf(Native.class), jarOf(Invoker.class), natives);
  }

  private static String other(String classifier) {
    String version = System.getProperty("test.otherJffi.version");
    return Path.of(System.getProperty("test.otherJffi"), "jffi-" + version + classifier + ".jar")
        .toString();
  }

  private static List<String> join(List<String> first, List<String> second) {
    return Stream.concat(first.stream(), second.stream()).toList();
  }

  /** Outcome for each class loader, as the probe prints it. */
  private List<String> probe(List<String> systemJars, String kind, List<String> jars)
      throws IOException, InterruptedException {
    List<String> base = List.of(jarOf(JffiProbe.class), jarOf(LoggerFactory.class));
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(List.of("-cp", String.join(":", join(systemJars, base))));
    command.addAll(List.of(JffiProbe.class.getName(), kind));
    command.addAll(jars);
    Path output = directory.resolve("output");
    Process child =
        new ProcessBuilder(command)
            .directory(workingDirectory == null ? null : workingDirectory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    assertThat(child.waitFor()).as(Files.readString(output)).isZero();
    return Files.readAllLines(output).stream()
        .filter(line -> line.matches("works|(unavailable|failed): .*"))
        .toList();
  }

  /** Where the jars lie: theirs are those of another jffi, in full or without its library. */
  @ParameterizedTest
  @CsvSource({
    "system, ours, ''",
    "system, ours theirs, ''",
    "system, theirs ours, ''",
    "system, classes ours, ''",
    "parentFirst, '', ours",
    "parentFirst, theirs, ours",
    "parentFirst, classes, ours",
    "childFirst, '', ours",
    "childFirst, theirs, ours",
    "childFirst, classes, ours",
    "siblings, '', ours",
    "siblings, theirs, ours"
  })
  void shouldWorkBesideAnotherJffi(String kind, String systemJars, String jars) throws Exception {
    int loaders = kind.equals("siblings") ? 2 : 1;
    assertThat(probe(jars(systemJars), kind, jars(jars)))
        .isEqualTo(Collections.nCopies(loaders, WORKS));
  }

  private static List<String> jars(String names) {
    return Stream.of(names.split(" ", -1))
        .flatMap(
            name ->
                switch (name) {
                  case "ours" -> ours().stream();
                  case "theirs" -> Stream.of(other(""), other("-native"));
                  case "classes" -> Stream.of(other(""));
                  default -> Stream.empty();
                })
        .toList();
  }

  @Test
  void shouldReportThatAnotherJffiCannotBeUsed() throws Exception {
    Path source = directory.resolve("Invoker.java");
    String empty = "package com.kenai.jffi; public abstract class Invoker { }";
    Files.writeString(source, empty, StandardCharsets.UTF_8);
    Path classes = Files.createDirectory(directory.resolve("classes"));
    assertThat(
            ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-d", classes.toString(), source.toString()))
        .isZero();

    assertThat(probe(join(List.of(classes.toString()), ours()), "system", List.of()))
        .singleElement()
        .asString()
        .startsWith("unavailable: ")
        .contains("another version of it may be on the class path before ours");
  }

  @Test
  void shouldReportThatJffiIsMissing() throws Exception {
    assertThat(probe(ours().subList(0, 1), "system", List.of()))
        .singleElement()
        .asString()
        .startsWith("unavailable: ")
        .contains("or ours is missing");
  }

  @ParameterizedTest
  @CsvSource({
    "'size=4m,noexec', failed to map segment from shared object",
    "size=40k, No space left on device",
  })
  void shouldNameTheReasonAndTheSettingThatHelpsWhereTemporaryFilesCannotRun(
      String mounted, String reason) throws Exception {
    Path folder = Files.createDirectory(directory.resolve("temporary"));
    assumeTrue("root".equals(System.getProperty("user.name")), "only root may mount a tmpfs");
    assumeTrue(
        run("mount", "-t", "tmpfs", "-o", mounted, "tmpfs", folder.toString()),
        "this container may not mount a tmpfs");
    try {
      // jffi tries the working directory next.
      workingDirectory = folder;
      options.add("-Djava.io.tmpdir=" + folder);
      assertThat(probe(ours(), "system", List.of()))
          .singleElement()
          .asString()
          .startsWith("unavailable: ")
          .contains("from the folder " + folder, reason, "-Djffi.extract.dir=FOLDER", "noexec");

      options.add("-Djffi.extract.dir=" + directory);
      assertThat(probe(ours(), "system", List.of())).containsExactly(WORKS);
    } finally {
      assertThat(run("umount", "-l", folder.toString())).isTrue();
    }
  }

  private static boolean run(String... command) throws IOException, InterruptedException {
    return new ProcessBuilder(command).start().waitFor() == 0;
  }
}
