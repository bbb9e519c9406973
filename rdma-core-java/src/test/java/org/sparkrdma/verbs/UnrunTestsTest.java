// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Something runs each test class of all modules: a pattern of Surefire or Failsafe matches its
 * name, or a guest test gives its name to {@code ContractMain}.
 */
class UnrunTestsTest {
  /** Names in the default includes of the plug-ins, and in the profile for fuzzing. */
  private static final Pattern RUN =
      Pattern.compile("Test.*|.*Tests?|.*TestCase|IT.*|.*IT|.*ITCase|.*Fuzz");

  private static final Pattern TEST_METHOD =
      Pattern.compile(
          "@(Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property|FuzzTest|Nested)\\b");

  private static final Pattern SUPERCLASS =
      Pattern.compile("\\bclass \\w+ extends (?:\\w+\\.)*(\\w+)");

  private final Map<String, String> sources = new HashMap<>();
  private final StringBuilder guestTests = new StringBuilder();

  @Test
  void shouldHaveNoTestClassThatNothingRuns() throws Exception {
    for (String file : BudgetTest.files()) {
      if (file.matches(".*/src/test/java/.*[.]java")) {
        String text = Files.readString(BudgetTest.ROOT.resolve(file));
        sources.put(file.replaceFirst(".*/(.*)[.]java", "$1"), text);
        if (file.contains("/guest/")) {
          guestTests.append(text);
        }
      }
    }
    List<String> tests = sources.keySet().stream().filter(this::hasTests).sorted().toList();
    // One of each module; the tests of the first are those of its superclass.
    assertThat(tests).contains("SoftVerbsContractIT", "LinkCheckTest", "LinksIT", "GuestSuiteIT");
    assertThat(tests.stream().filter(name -> !RUN.matcher(name).matches()))
        .as("not matched by Surefire or Failsafe, and not named by a guest test")
        .allMatch(this::isOnlyForOthers);
  }

  /** A base of other classes, or run in the guest. */
  private boolean isOnlyForOthers(String name) {
    return sources.get(name).contains("abstract class " + name)
        || Pattern.compile("\\b" + name + "\\b").matcher(guestTests).find();
  }

  private boolean hasTests(String name) {
    String source = sources.getOrDefault(name, "");
    Matcher superclass = SUPERCLASS.matcher(source);
    return TEST_METHOD.matcher(source).find()
        || (superclass.find()
            && !superclass.group(1).equals(name)
            && hasTests(superclass.group(1)));
  }
}
