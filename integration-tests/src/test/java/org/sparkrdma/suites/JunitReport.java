/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.suites;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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

  static List<TestOutcome> read(Path report) throws IOException {
    List<TestOutcome> outcomes = new ArrayList<>();
    NodeList cases = parse(report).getElementsByTagName("testcase");
    for (int i = 0; i < cases.getLength(); i++) {
      outcomes.add(outcome((Element) cases.item(i)));
    }
    return outcomes;
  }

  private static TestOutcome outcome(Element testCase) {
    String name = testCase.getAttribute("name");
    for (String tag : List.of("failure", "error")) {
      NodeList failures = testCase.getElementsByTagName(tag);
      if (failures.getLength() > 0) {
        Element failure = (Element) failures.item(0);
        return new TestOutcome(
            name,
            TestOutcome.Kind.FAILED,
            failure.getAttribute("message") + System.lineSeparator() + failure.getTextContent());
      }
    }
    NodeList skips = testCase.getElementsByTagName("skipped");
    if (skips.getLength() > 0) {
      String reason = ((Element) skips.item(0)).getAttribute("message");
      return new TestOutcome(name, TestOutcome.Kind.SKIPPED, reason.isEmpty() ? NO_REASON : reason);
    }
    return new TestOutcome(name, TestOutcome.Kind.PASSED, "");
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
