// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.shuffle.links.LinkCheck;
import org.sparkrdma.shuffle.links.LinkPart;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.links.SparkVersion;

/** Which Spark is here, and what of it the plug-in needs and does not find. */
final class SparkCheck {
  private static final String HOME = "SPARK_HOME";
  private static final LinkPart[] NEEDED = {
    LinkPart.START, LinkPart.READER, LinkPart.CLIENT, LinkPart.SERVING, LinkPart.DRIVER
  };

  static List<Finding> run(Facts facts) {
    ClassLoader own = SparkCheck.class.getClassLoader();
    if (own.getResource("org/apache/spark/SparkEnv.class") != null) {
      return findings("the class path", own);
    }
    String home = facts.environment().getOrDefault(HOME, "");
    Path jars = Facts.path(home).map(path -> path.resolve("jars")).orElse(Path.of(""));
    if (home.isEmpty() || !Files.isDirectory(jars)) {
      return List.of(
          Finding.note(
              "No Spark is known here.", "set " + HOME + ", or run this command by spark-submit"));
    }
    try (URLClassLoader spark =
        new URLClassLoader(urls(jars), ClassLoader.getPlatformClassLoader())) {
      return findings(home, spark);
    } catch (IOException | DirectoryIteratorException | UncheckedIOException e) {
      return List.of(Finding.note("Spark cannot be read: " + e + ".", "look at " + jars));
    }
  }

  private static URL[] urls(Path jars) throws IOException {
    List<URL> urls = new ArrayList<>();
    urls.add(SparkCheck.class.getProtectionDomain().getCodeSource().getLocation());
    try (DirectoryStream<Path> files = Files.newDirectoryStream(jars, "*.jar")) {
      for (Path jar : files) {
        urls.add(jar.toUri().toURL());
      }
    }
    return urls.toArray(URL[]::new);
  }

  static List<Finding> findings(String place, ClassLoader spark) {
    String version = SparkVersion.of(spark);
    List<Finding> findings = new ArrayList<>();
    add(findings, LinkCheck.missing(spark, NEEDED), version, "RDMA is not used");
    add(
        findings,
        LinkCheck.missing(spark, LinkPart.BESIDE),
        version,
        "beside another shuffle manager RDMA is not used");
    add(
        findings,
        LinkCheck.missing(spark, LinkPart.BROADCAST),
        version,
        "broadcast variables come by Torrent");
    if (spark.getResource("jakarta/servlet/http/HttpServletRequest.class") != null) {
      add(findings, LinkCheck.missing(spark, LinkPart.UI), version, "there is no tab");
    }
    if (findings.isEmpty()) {
      findings.add(Finding.ok(version + " in " + place + " has all that the plug-in needs of it."));
    }
    return findings;
  }

  private static void add(
      List<Finding> findings, List<String> missing, String version, String consequence) {
    if (!missing.isEmpty()) {
      String message =
          version
              + " lacks or has changed "
              + MissingLinks.names(missing)
              + ": "
              + consequence
              + ".";
      String advice = "use a plug-in that was built for this Spark";
      findings.add(
          findings.isEmpty() && consequence.startsWith("RDMA")
              ? Finding.problem(message, advice)
              : Finding.warning(message, advice));
    }
  }

  private SparkCheck() {}
}
