// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.runners;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.platform.commons.annotation.Testable;

/**
 * Finds the test classes of a module that nothing runs: no pattern of Surefire or Failsafe matches
 * their names, and no guest test gives their names to {@code ContractMain}.
 */
public final class UnrunTests {
  /** Names in the default includes of the plug-ins, and in the profile for fuzzing. */
  private static final Pattern RUN =
      Pattern.compile("Test.*|.*Tests?|.*TestCase|IT.*|.*IT|.*ITCase|.*Fuzz");

  private static final Pattern TEST_METHOD =
      Pattern.compile(
          "@(Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property|FuzzTest)\\b");

  private static final Pattern SUPERCLASS =
      Pattern.compile("\\bclass \\w+ extends (?:\\w+\\.)*(\\w+)");

  private static final Path GUEST_TESTS =
      Path.of("..", "integration-tests", "src", "test", "java", "org", "sparkrdma", "guest");

  private UnrunTests() {}

  /** Names of such classes among those that the current module has compiled. */
  public static List<String> ofThisModule() throws IOException {
    String guestTests = guestTests();
    return new ClassFileImporter()
        .importPath(Path.of("target", "test-classes")).stream()
            .filter(type -> type.isTopLevelClass() && hasTests(type))
            .filter(type -> !type.getModifiers().contains(JavaModifier.ABSTRACT))
            .map(JavaClass::getSimpleName)
            .filter(name -> !RUN.matcher(name).matches())
            .filter(name -> !Pattern.compile("\\b" + name + "\\b").matcher(guestTests).find())
            .sorted()
            .toList();
  }

  /**
   * Names of such classes among the sources of another module, which may not be compiled yet. Finds
   * no superclass of yet another module.
   */
  public static List<String> inSourcesOf(String module) throws IOException {
    Map<String, String> sources = new HashMap<>();
    try (Stream<Path> files = Files.walk(Path.of("..", module, "src", "test", "java"))) {
      for (Path file : (Iterable<Path>) files.filter(UnrunTests::isJava)::iterator) {
        String name = file.getFileName().toString();
        sources.put(name.substring(0, name.lastIndexOf('.')), Files.readString(file));
      }
    }
    if (sources.isEmpty()) {
      throw new IllegalStateException("no sources of tests found: module=" + module);
    }
    return sources.keySet().stream()
        .filter(name -> hasTests(name, sources))
        .filter(name -> !sources.get(name).contains("abstract class " + name))
        .filter(name -> !RUN.matcher(name).matches())
        .sorted()
        .toList();
  }

  private static boolean isJava(Path file) {
    return file.getFileName().toString().endsWith(".java");
  }

  private static boolean hasTests(String name, Map<String, String> sources) {
    String source = sources.getOrDefault(name, "");
    Matcher superclass = SUPERCLASS.matcher(source);
    return TEST_METHOD.matcher(source).find()
        || (superclass.find()
            && !superclass.group(1).equals(name)
            && hasTests(superclass.group(1), sources));
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
