// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathExpressionException;
import javax.xml.xpath.XPathFactory;
import org.w3c.dom.Document;

/**
 * Fails when a staging folder lacks something that Maven Central demands, except signatures. Run as {@code java CheckStaging.java FOLDER}, where FOLDER has the layout of a
 * Maven repository.
 */
final class CheckStaging {
  /** Elements that each POM has, itself or in its parent. */
  private static final List<String> ELEMENTS =
      List.of(
          "name",
          "description",
          "url",
          "licenses/license/name",
          "licenses/license/url",
          "developers/developer/name",
          "scm/connection",
          "scm/developerConnection",
          "scm/url");

  /** Files beside the POM of an artifact with a jar. */
  private static final List<String> FILES =
      List.of(".jar", "-sources.jar", "-javadoc.jar", "-cyclonedx.json");

  private static final XPath XPATH = XPathFactory.newInstance().newXPath();

  private final List<String> problems = new ArrayList<>();
  private final Path folder;

  private CheckStaging(Path folder) {
    this.folder = folder;
  }

  public static void main(String[] arguments) throws Exception {
    CheckStaging check = new CheckStaging(Path.of(arguments[0]));
    List<Path> poms = check.files(".pom");
    for (Path pom : poms) {
      check.checkArtifact(pom, poms);
    }
    check.checkChecksums();
    if (poms.size() != 3) {
      check.problems.add("the parent, the verbs and the plug-in should be there, but found " + poms);
    }
    check.problems.forEach(problem -> System.err.println("staging: " + problem));
    if (!check.problems.isEmpty()) {
      System.exit(1);
    }
    System.out.println("staging: the files of " + poms.size() + " artifacts are complete");
  }

  private List<Path> files(String ending) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> file.toString().endsWith(ending)).sorted().toList();
    }
  }

  private void checkArtifact(Path pom, List<Path> all) throws Exception {
    Document model = parse(pom);
    String parentName = text(model, "/project/parent/artifactId");
    Document parent = model;
    for (Path other : all) {
      if (!parentName.isEmpty() && other.getFileName().toString().startsWith(parentName + "-")) {
        parent = parse(other);
      }
    }
    for (String element : ELEMENTS) {
      if (text(model, "/project/" + element).isBlank()
          && text(parent, "/project/" + element).isBlank()) {
        problems.add(pom.getFileName() + " has no " + element);
      }
    }
    String version = text(model, "/project/version") + text(model, "/project/parent/version");
    if (!version.contains("-SNAPSHOT")
        && !text(model, "//dependency[contains(version, '-SNAPSHOT')]").isEmpty()) {
      problems.add(pom.getFileName() + " depends on a snapshot");
    }
    if (text(model, "/project/properties/repository.page").contains("OWNER")) {
      System.out.println("staging: before sending, set repository.page, the groupId and the version");
    }
    if (!text(model, "/project/packaging").equals("pom")) {
      checkFiles(pom);
    }
  }

  private void checkFiles(Path pom) throws IOException {
    String base = pom.getFileName().toString().replaceAll("\\.pom$", "");
    for (String ending : FILES) {
      Path file = pom.resolveSibling(base + ending);
      if (!Files.exists(file)) {
        problems.add(file.getFileName() + " is missing");
      } else if (ending.endsWith(".jar")) {
        checkContent(file, ending);
      }
    }
  }

  private void checkContent(Path file, String ending) throws IOException {
    String wanted = ending.equals("-sources.jar") ? ".java" : ending.equals(".jar") ? ".class" : "index.html";
    try (JarFile jar = new JarFile(file.toFile())) {
      if (jar.stream().noneMatch(entry -> entry.getName().endsWith(wanted))) {
        problems.add(file.getFileName() + " has no " + wanted);
      }
    }
  }

  private void checkChecksums() throws IOException {
    for (String ending : List.of(".pom", ".jar", ".json")) {
      for (Path file : files(ending)) {
        for (String sum : List.of(".md5", ".sha1")) {
          if (!Files.exists(file.resolveSibling(file.getFileName() + sum))) {
            problems.add(file.getFileName() + sum + " is missing");
          }
        }
      }
    }
  }

  private static Document parse(Path pom) throws Exception {
    return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(pom.toFile());
  }

  private static String text(Document model, String path) throws XPathExpressionException {
    return XPATH.evaluate(path, model).strip();
  }
}
