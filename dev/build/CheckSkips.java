// SPDX-License-Identifier: Apache-2.0

import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Fails when the reports of Surefire and Failsafe contain a skipped test that the list does not allow for that reason. Run as
 * {@code java CheckSkips.java LIST TARGET INSTALLED [PROJECT]}, where TARGET is a module's build directory. The beginning of
 * the list describes its format.
 *
 * <p>A reason that names a missing package, as in "KIND OF TEST: install PACKAGE", is allowed for any test, unless INSTALLED is
 * true: CI installs all packages, so a test must not be skipped there because its check for one is wrong. With PROJECT, the
 * program also prints which kinds of test did not run in all modules, and the packages that each needs.
 */
final class CheckSkips {
  private static final Pattern MISSING = Pattern.compile("(?:.*\": )?([^\":]+: install [a-z0-9][a-z0-9+. -]*)(?: \\(\\w+\\.scala:\\d+\\))?");

  private static final List<String> REPORTS = List.of("surefire-reports", "failsafe-reports");

  /**
   * A skipped test: its class and name, and the reason. One that is allowed has a pattern, and the beginning of the reason.
   */
  private record Skip(String test, String reason) {
    static Skip parse(String line) {
      String[] parts = line.split(" \\| ", 2);
      if (parts.length != 2 || parts[1].isBlank()) {
        throw new IllegalArgumentException("neither a comment nor TEST | REASON: " + line);
      }
      return new Skip(parts[0].strip(), withoutPrefix(parts[1]));
    }

    boolean allows(Skip skipped) {
      String pattern = "\\Q" + test.replace("*", "\\E.*\\Q") + "\\E";
      return skipped.test.matches(pattern) && skipped.reason.startsWith(reason);
    }

    /** KIND OF TEST: install PACKAGE. */
    Matcher missingPackage() {
      return MISSING.matcher(reason);
    }
  }

  public static void main(String[] arguments) throws Exception {
    List<Skip> allowed =
        Files.readAllLines(Path.of(arguments[0])).stream()
            .filter(line -> !line.isBlank() && !line.startsWith("#"))
            .map(Skip::parse)
            .toList();
    boolean installed = Boolean.parseBoolean(arguments[2]);
    List<Skip> skipped = skippedIn(Path.of(arguments[1]));
    List<Skip> objections =
        skipped.stream()
            .filter(test -> installed || !test.missingPackage().matches())
            .filter(test -> allowed.stream().noneMatch(a -> a.allows(test)))
            .toList();
    if (!objections.isEmpty()) {
      System.err.printf("%d tests skipped that %s does not allow:%n", objections.size(), arguments[0]);
      objections.forEach(test -> System.err.println("  " + test.test() + " | " + test.reason()));
      System.exit(1);
    }
    System.out.printf("%d tests skipped, all of them as %s allows%n", skipped.size(), arguments[0]);
    if (arguments.length > 3) {
      printMissingPackages(Path.of(arguments[3]));
    }
  }

  private static void printMissingPackages(Path project) throws Exception {
    TreeSet<String> missing = new TreeSet<>();
    try (DirectoryStream<Path> modules = Files.newDirectoryStream(project, Files::isDirectory)) {
      for (Path module : modules) {
        for (Skip test : skippedIn(module.resolve("target"))) {
          Matcher reason = test.missingPackage();
          if (reason.matches()) {
            missing.add(reason.group(1));
          }
        }
      }
    }
    if (!missing.isEmpty()) {
      System.out.println("These kinds of test did not run, because this machine lacks a package that they need:");
      missing.forEach(reason -> System.out.println("  " + reason));
    }
  }

  private static List<Skip> skippedIn(Path target) throws Exception {
    List<Skip> skipped = new ArrayList<>();
    for (String reports : REPORTS) {
      collect(target.resolve(reports), skipped);
    }
    return skipped;
  }

  private static void collect(Path directory, List<Skip> skipped) throws Exception {
    if (!Files.isDirectory(directory)) {
      return;
    }
    try (DirectoryStream<Path> reports = Files.newDirectoryStream(directory, "{TEST-*.xml,*-skips.txt}")) {
      for (Path report : reports) {
        // Of tests that ran elsewhere, such as in a guest: lines like those of the list.
        boolean isList = report.toString().endsWith(".txt");
        skipped.addAll(isList ? Files.readAllLines(report).stream().map(Skip::parse).toList() : read(report));
      }
    }
  }

  private static List<Skip> read(Path report) throws Exception {
    List<Skip> skipped = new ArrayList<>();
    Element suite =
        DocumentBuilderFactory.newDefaultInstance().newDocumentBuilder().parse(report.toFile()).getDocumentElement();
    NodeList cases = suite.getElementsByTagName("testcase");
    if (cases.getLength() == 0) {
      // An assumption before all tests of a class failed: Surefire reports neither the tests nor the reason.
      skipped.add(new Skip(suite.getAttribute("name") + "#*", "skipped as a whole, for a reason that is not reported"));
    }
    for (int i = 0; i < cases.getLength(); i++) {
      Element test = (Element) cases.item(i);
      NodeList marks = test.getElementsByTagName("skipped");
      if (marks.getLength() > 0) {
        String name = test.getAttribute("classname") + "#" + test.getAttribute("name");
        skipped.add(new Skip(name, reason((Element) marks.item(0))));
      }
    }
    return skipped;
  }

  /** The message; an aborted test's is in its stack trace. */
  private static String reason(Element mark) {
    String message = mark.getAttribute("message");
    String text = message.isEmpty() ? mark.getTextContent() : message;
    return withoutPrefix(text.lines().findFirst().orElse(""));
  }

  /** Removes the exception that carried the reason. */
  private static String withoutPrefix(String text) {
    return text.replaceFirst("^org\\.opentest4j\\.TestAbortedException: ", "")
        .replaceFirst("^Assumption failed: ", "")
        .strip();
  }
}
