// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.sparkrdma.verbs.Verbs;
import picocli.CommandLine;

/** The commands of a jar like the plug-in's, in folders with unusual names. */
@Timeout(120)
class FolderOfTheJarTest {
  private static final String COMMAND_LIBRARIES = "META-INF/tools/command-libraries.jar";

  @TempDir private Path directory;

  @ParameterizedTest
  @ValueSource(strings = {"plain", "wow!", "a!b!/c!", "with space", "50%21", "caf\u00e9#?"})
  void shouldRunCommandsFromAFolderOfAnyName(String folder) throws Exception {
    Path jar = Files.createDirectories(directory.resolve(folder)).resolve("plug-in.jar");
    writeJar(jar);
    Path settings = directory.resolve("spark.conf");
    Files.writeString(settings, "spark.shuffle.rdma.engine soft\n");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                jar.toString(),
                Main.class.getName(),
                "devices",
                "--conf",
                settings.toString())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(output).contains("soft0").doesNotContain("The command failed");
    assertThat(process.waitFor()).as(output).isZero();
  }

  /** Our classes, and the libraries of the commands in a jar inside. */
  private void writeJar(Path path) throws IOException, URISyntaxException {
    Path libraries = directory.resolve("libraries.jar");
    write(libraries, List.of(at(CommandLine.class), at(Logger.class)));
    write(path, List.of(at(Main.class), at(Verbs.class)));
    try (OutputStream file = Files.newOutputStream(directory.resolve("whole.jar"));
        JarOutputStream jar = new JarOutputStream(file)) {
      // A build that packages leaves its own libraries among the classes; these here are used
      // instead.
      Set<String> names = new HashSet<>(Set.of(COMMAND_LIBRARIES));
      copy(path, jar, names);
      jar.putNextEntry(new JarEntry(COMMAND_LIBRARIES));
      Files.copy(libraries, jar);
      jar.closeEntry();
    }
    Files.move(
        directory.resolve("whole.jar"), path, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
  }

  private static Path at(Class<?> type) throws URISyntaxException {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  private static void write(Path target, List<Path> sources) throws IOException {
    try (OutputStream file = Files.newOutputStream(target);
        JarOutputStream jar = new JarOutputStream(file)) {
      Set<String> names = new HashSet<>();
      for (Path source : sources) {
        copy(source, jar, names);
      }
    }
  }

  /** Copies the files of a jar or a folder. */
  private static void copy(Path source, JarOutputStream jar, Set<String> names) throws IOException {
    if (Files.isDirectory(source)) {
      try (Stream<Path> files = Files.walk(source)) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          String name = source.relativize(file).toString().replace(File.separatorChar, '/');
          if (names.add(name)) {
            jar.putNextEntry(new JarEntry(name));
            Files.copy(file, jar);
            jar.closeEntry();
          }
        }
      }
      return;
    }
    try (JarFile from = new JarFile(source.toFile())) {
      for (JarEntry entry : (Iterable<JarEntry>) from.stream()::iterator) {
        if (!entry.isDirectory() && names.add(entry.getName())) {
          jar.putNextEntry(new JarEntry(entry.getName()));
          from.getInputStream(entry).transferTo(jar);
          jar.closeEntry();
        }
      }
    }
  }
}
