// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios;

import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.sparkrdma.shuffle.wire.Messages;

/**
 * The plug-in's jar of a later version: the number of its protocol is one higher. The classes
 * concerned are compiled anew from the sources of this build. Stateless.
 */
public final class NewerJar {
  /** {@code javac} copies the constants into the classes that use them. */
  private static final List<String> CLASSES =
      List.of(
          "org/sparkrdma/shuffle/wire/Messages",
          "org/sparkrdma/shuffle/transport/Handshake",
          "org/sparkrdma/shuffle/runtime/RdmaStart");

  private static final String PROTOCOL = "int PROTOCOL = ";

  private NewerJar() {}

  /** Returns a jar in a temporary folder. */
  public static Path make() throws IOException {
    Path folder = Files.createTempDirectory("newer");
    Path sources =
        Path.of(System.getProperty("it.project")).resolve("shuffle-plugin/src/main/java");
    List<String> command =
        new ArrayList<>(
            List.of("-proc:none", "-nowarn", "-d", folder.resolve("classes").toString(), "-cp"));
    command.add(System.getProperty("java.class.path"));
    for (String name : CLASSES) {
      Path changed = folder.resolve("sources").resolve(name + ".java");
      Files.createDirectories(changed.getParent());
      String text = Files.readString(sources.resolve(name + ".java").normalize());
      Files.writeString(changed, later(text));
      command.add(changed.toString());
    }
    if (ToolProvider.getSystemJavaCompiler().run(null, null, null, command.toArray(String[]::new))
        != 0) {
      throw new IOException("the newer classes do not compile: folder=" + folder);
    }
    Path jar = folder.resolve("newer.jar");
    Files.copy(Path.of(System.getProperty("it.plugin.jar")), jar);
    replace(folder.resolve("classes"), jar);
    return jar;
  }

  private static String later(String source) throws IOException {
    String later =
        source.replace(
            PROTOCOL + Messages.PROTOCOL + ";", PROTOCOL + (Messages.PROTOCOL + 1) + ";");
    if (source.contains(PROTOCOL) && later.equals(source)) {
      throw new IOException("the constant of a class has changed: " + source.lines().findFirst());
    }
    return later;
  }

  private static void replace(Path classes, Path jar) throws IOException {
    try (FileSystem inJar = FileSystems.newFileSystem(jar);
        Stream<Path> files = Files.walk(classes)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Files.copy(
            file,
            inJar.getPath(classes.relativize(file).toString()),
            StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }
}
