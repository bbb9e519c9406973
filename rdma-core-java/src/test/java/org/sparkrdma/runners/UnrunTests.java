// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.runners;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.platform.commons.annotation.Testable;

/**
 * Finds the test classes of a module that nothing runs: no pattern of Surefire or Failsafe matches
 * their names, and no guest test gives their names to {@code ContractMain}.
 */
public final class UnrunTests {
  /** Of the plug-ins' default includes, and of the profile for fuzzing. */
  private static final Pattern RUN =
      Pattern.compile("Test.*|.*Tests?|.*TestCase|IT.*|.*IT|.*ITCase|.*Fuzz");

  private static final Path GUEST_TESTS =
      Path.of("..", "integration-tests", "src", "test", "java", "org", "sparkrdma", "guest");

  private UnrunTests() {}

  /** Names of such classes among those that the current module has compiled. */
  public static List<String> ofThisModule() throws IOException {
    List<Path> compiled =
        Stream.of("test-classes", "java22-test-classes")
            .map(folder -> Path.of("target", folder))
            .filter(Files::isDirectory)
            .toList();
    String guestTests = guestTests();
    return new ClassFileImporter()
        .importPaths(compiled).stream()
            .filter(type -> type.isTopLevelClass() && hasTests(type))
            .filter(type -> !type.getModifiers().contains(JavaModifier.ABSTRACT))
            .map(JavaClass::getSimpleName)
            .filter(name -> !RUN.matcher(name).matches())
            .filter(name -> !Pattern.compile("\\b" + name + "\\b").matcher(guestTests).find())
            .sorted()
            .toList();
  }

  private static boolean hasTests(JavaClass type) {
    return type.getAllMethods().stream()
            .anyMatch(
                method ->
                    method.isAnnotatedWith(Testable.class)
                        || method.isMetaAnnotatedWith(Testable.class))
        || type.getAllRawSuperclasses().stream().anyMatch(UnrunTests::isSuite);
  }

  /** Whether its tests are in nested classes. */
  private static boolean isSuite(JavaClass type) {
    return type.getSimpleName().endsWith("Suite");
  }

  private static String guestTests() throws IOException {
    StringBuilder sources = new StringBuilder();
    try (Stream<Path> files = Files.list(GUEST_TESTS)) {
      for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
        sources.append(Files.readString(file));
      }
    }
    return sources.toString();
  }
}
