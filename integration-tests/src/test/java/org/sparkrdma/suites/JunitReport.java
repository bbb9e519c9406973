// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

  private JunitReport() {}

  /**
   * @param skipReasons known reasons by test
   */
  static List<TestOutcome> read(Path report, Map<String, String> skipReasons) throws IOException {
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
