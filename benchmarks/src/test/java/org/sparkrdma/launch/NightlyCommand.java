// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A Maven command of {@code .ci/nightly}: which tests tagged {@code nightly} it runs. Knows the
 * options that these commands use, and what the profiles of this project change.
 */
record NightlyCommand(List<String> arguments) {
  private static final String NIGHTLY = "nightly";

  /** The property {@code excludedGroups} of the parent pom. */
  private static final String EXCLUDED_GROUPS = "measurement,nightly";

  private static final String GUEST_MODULE = "integration-tests";

  /** Profiles that run no unit test with this tag. */
  private static final List<String> WITHOUT_UNIT_TESTS = List.of("suites", "fuzz", "stress");

  static NightlyCommand parse(String line) {
    return new NightlyCommand(List.of(line.split(" +", -1)));
  }

  boolean selects(NightlyTag tag) {
    return buildsModule(tag.module())
        && runsTag(tag.module())
        && (tag.isIntegrationTest() ? runsWithFailsafe(tag) : runsWithSurefire(tag));
  }

  private boolean buildsModule(String module) {
    int modules = arguments.indexOf("-pl");
    return modules < 0 || items(arguments.get(modules + 1)).contains(module);
  }

  private boolean runsTag(String module) {
    boolean profile = module.equals(GUEST_MODULE) && profiles().contains(NIGHTLY);
    String excluded = property("excludedGroups").orElse(profile ? "none" : EXCLUDED_GROUPS);
    return !items(excluded).contains(NIGHTLY)
        && property("groups").map(groups -> items(groups).contains(NIGHTLY)).orElse(true);
  }

  private boolean runsWithSurefire(NightlyTag tag) {
    return profiles().stream().noneMatch(WITHOUT_UNIT_TESTS::contains)
        && !property("skipUnitTests").orElse("").equals("true")
        && isNamed(property("test"), tag);
  }

  private boolean runsWithFailsafe(NightlyTag tag) {
    return arguments.contains("verify")
        && profiles().contains("guest") == tag.guest()
        && (tag.guest() || !profiles().contains("suites"))
        && isNamed(property("it.test"), tag);
  }

  /** Whether the tests that an option names contain the tagged one; without the option all do. */
  private static boolean isNamed(Optional<String> tests, NightlyTag tag) {
    return tests.isEmpty()
        || items(tests.get()).stream().anyMatch(test -> isNamed(test.split("#", 2), tag));
  }

  private static boolean isNamed(String[] classAndMethod, NightlyTag tag) {
    return matches(classAndMethod[0], tag.type())
        && (classAndMethod.length == 1
            || (tag.method() != null && matches(classAndMethod[1], tag.method())));
  }

  /**
   * @param form with * for any text
   */
  private static boolean matches(String form, String name) {
    return name.matches(Pattern.quote(form).replace("*", "\\E.*\\Q"));
  }

  private List<String> profiles() {
    return arguments.stream()
        .filter(argument -> argument.startsWith("-P"))
        .flatMap(argument -> items(argument.substring(2)).stream())
        .toList();
  }

  private Optional<String> property(String name) {
    String prefix = "-D" + name + "=";
    return arguments.stream()
        .filter(argument -> argument.startsWith(prefix))
        .map(argument -> argument.substring(prefix.length()))
        .findFirst();
  }

  private static List<String> items(String list) {
    return List.of(list.split(",", -1));
  }
}
