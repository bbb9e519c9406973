// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.links;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.links.AlteredSpark.Change;

/** The list that the build writes, and the check, against each of its lines. */
@Tag("slow")
@Timeout(300)
class LinkCheckTest {
  private static final ClassLoader SPARK = LinkCheckTest.class.getClassLoader();

  /** Their code names subclasses of their own, so they cannot be loaded alone. */
  private static final Set<String> NOT_ALONE =
      Set.of(
          "scala.Option",
          "scala.Tuple2",
          "com.fasterxml.jackson.databind.JsonNode",
          "org.apache.spark.rdd.RDD");

  private static Stream<String> lines(String regex) {
    return LinkCheck.lines().stream().filter(line -> line.matches(regex));
  }

  @Test
  void shouldMissNothingInTheSparkOfTheBuild() {
    assertThat(LinkCheck.missing(SPARK, LinkPart.values())).isEmpty();
  }

  @Test
  void shouldHaveMethodsThatAreInheritedOrCalledByLambdasOnly() {
    assertThat(LinkCheck.lines())
        .map(line -> line.replaceFirst("\t\\d+$", ""))
        .contains(
            // Inherited, so that an instruction names our own class.
            "start\tmethod\torg.apache.spark.shuffle.sort.SortShuffleManager\tshuffleBlockResolver\t"
                + "()Lorg/apache/spark/shuffle/IndexShuffleBlockResolver;\tinstance",
            "ui\tmethod\torg.apache.spark.ui.SparkUITab\tattachPage\t"
                + "(Lorg/apache/spark/ui/WebUIPage;)V\tinstance",
            "reader\tmethod\torg.apache.spark.shuffle.sort.SortShuffleManager\tcanUseBatchFetch\t"
                + "(IILorg/apache/spark/TaskContext;)Z\tstatic",
            // Called by lambdas only.
            "reader\tinterface-method\tscala.Function2\tapply\t"
                + "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;\tinstance",
            "beside\tnamed\torg.apache.spark.storage.BlockManager\tblockStoreClient\t"
                + "org.apache.spark.network.shuffle.BlockStoreClient")
        .noneMatch(line -> line.contains("\torg.slf4j.impl") || line.contains("picocli"));
  }

  /**
   * Each line is missing where its class has changed, and there where the class is only reloaded.
   */
  @Test
  void shouldMissEachMethodAndFieldWhereSparkHasChangedIt() throws Exception {
    List<String> wrong = new ArrayList<>();
    List<String> lines = lines("(?!history).*").toList();
    for (String line : lines) {
      String[] fields = line.split("\t", -1);
      switch (fields[1]) {
        case "own", "forwards" -> {}
        case "method", "interface-method" -> {
          expect(wrong, line, fields[2], Change.RENAMED);
          if (!fields[3].equals("<init>") && fields[1].equals("method")) {
            expect(wrong, line, fields[2], Change.STATIC);
          }
        }
        case "field", "named" -> expect(wrong, line, fields[2], Change.RENAMED);
        default -> expect(wrong, line, fields[2], Change.NO_CLASS);
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(LinkPart.values()).allMatch(part -> lines.stream().anyMatch(part::begins));
  }

  private static void expect(List<String> wrong, String line, String type, Change change)
      throws Exception {
    try (AlteredSpark same = new AlteredSpark(type, Change.NONE);
        AlteredSpark other = new AlteredSpark(type, change)) {
      if (same.lacks(line) && !NOT_ALONE.contains(type)) {
        wrong.add("missing although it is there: " + line);
      }
      // What a class inherits is not in its file.
      if (!other.lacks(line) && declares(line)) {
        wrong.add("not missing after " + change + ": " + line);
      }
    }
  }

  private static boolean declares(String line) throws ClassNotFoundException {
    String[] fields = line.split("\t", -1);
    if (fields.length < 5 || fields[3].equals("<init>")) {
      return true;
    }
    Class<?> type = Class.forName(fields[2], false, SPARK);
    List<String> names = List.of(fields[3].split("[|]"));
    return Stream.concat(Stream.of(type.getDeclaredMethods()), Stream.of(type.getDeclaredFields()))
        .anyMatch(one -> names.contains(one.getName()));
  }

  @Test
  void shouldMissMethodsThatSparkHasAdded() throws Exception {
    for (String line : lines("(reader|client|driver|ui|broadcast)\town\t.*").toList()) {
      Class<?> ours = Class.forName(line.split("\t", -1)[2], false, SPARK);
      Class<?> above =
          ours.getSuperclass() == Object.class ? ours.getInterfaces()[0] : ours.getSuperclass();
      if (above.getName().startsWith("org.apache.spark.")) {
        for (Change change : List.of(Change.ABSTRACT, Change.PROTECTED)) {
          try (AlteredSpark spark = new AlteredSpark(above.getName(), change)) {
            assertThat(spark.lacks(line))
                .as(line)
                .isEqualTo(!above.isInterface() || change == Change.ABSTRACT);
          }
        }
      }
    }
    String client = "org.apache.spark.network.shuffle.BlockStoreClient";
    String forwards = lines(".*\tforwards\t.*").findFirst().orElseThrow();
    try (AlteredSpark spark = new AlteredSpark(client, Change.CONCRETE)) {
      assertThat(spark.lacks(forwards)).isTrue();
    }
  }

  /** As in a jar that was packed again, or one that changes while Spark runs. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldTakeALinkForMissingWhereTheListCannotBeRead(boolean damaged) throws Exception {
    InputStream broken = InputStream.nullInputStream();
    broken.close();
    try (AlteredSpark spark =
        new AlteredSpark("", Change.NONE) {
          @Override
          public InputStream getResourceAsStream(String name) {
            InputStream list = damaged ? broken : null;
            return name.endsWith("links.tsv") ? list : super.getResourceAsStream(name);
          }
        }) {
      Class<?> type = spark.loadClass(MissingLinks.class.getName());
      Object missing = type.getMethod("onDriver").invoke(null);
      type.getMethod("check").invoke(missing);
      assertThat(type.getMethod("reason").invoke(missing).toString())
          .contains("the plug-in's jar has no readable links.tsv");
    }
  }
}
