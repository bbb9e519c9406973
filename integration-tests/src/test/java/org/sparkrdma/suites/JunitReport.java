// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/** Reads the report that ScalaTest writes for a suite in JUnit's format. */
final class JunitReport {
  private static final String NO_REASON = "ignored by the suite";

  /** Reasons of cancelled tests are in ScalaTest's output only. */
  private static final Pattern CANCELED = Pattern.compile("\\s*- (.*) !!! CANCELED !!!.*");

  private JunitReport() {}

  /**
   * @param output of ScalaTest
   */
  static List<TestOutcome> read(Path report, Path output) throws IOException {
    Map<String, String> skipReasons = new HashMap<>();
    Iterator<String> lines = Files.readAllLines(output, StandardCharsets.ISO_8859_1).iterator();
    while (lines.hasNext()) {
      Matcher canceled = CANCELED.matcher(lines.next());
      if (canceled.matches() && lines.hasNext()) {
        skipReasons.put(canceled.group(1), lines.next().strip());
      }
    }
    List<TestOutcome> outcomes = new ArrayList<>();
    NodeList cases = parse(report).getElementsByTagName("testcase");
    for (int i = 0; i < cases.getLength(); i++) {
      outcomes.add(outcome((Element) cases.item(i), skipReasons));
    }
    return outcomes;
  }

  private static TestOutcome outcome(Element testCase, Map<String, String> skipReasons) {
    String suiteClass = testCase.getAttribute("classname");
    String name = testCase.getAttribute("name");
    for (String tag : List.of("failure", "error")) {
      NodeList failures = testCase.getElementsByTagName(tag);
      if (failures.getLength() > 0) {
        Element failure = (Element) failures.item(0);
        return new TestOutcome(
            suiteClass,
            name,
            TestOutcome.Kind.FAILED,
            failure.getAttribute("message") + System.lineSeparator() + failure.getTextContent());
      }
    }
    if (testCase.getElementsByTagName("skipped").getLength() > 0) {
      return new TestOutcome(
          suiteClass, name, TestOutcome.Kind.SKIPPED, skipReasons.getOrDefault(name, NO_REASON));
    }
    return new TestOutcome(suiteClass, name, TestOutcome.Kind.PASSED, "");
  }

  private static Document parse(Path report) throws IOException {
    try {
      DocumentBuilder builder = DocumentBuilderFactory.newDefaultInstance().newDocumentBuilder();
      return builder.parse(report.toFile());
    } catch (ParserConfigurationException | SAXException e) {
      throw new IOException("unreadable report: file=" + report, e);
    }
  }
}
