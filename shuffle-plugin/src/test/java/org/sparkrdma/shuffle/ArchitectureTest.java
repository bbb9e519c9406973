// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.conditions.ArchConditions.onlyDependOnClassesThat;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Allowed dependencies between packages of the plug-in. */
class ArchitectureTest {
  private static final String ROOT = "org.sparkrdma.shuffle";
  private static final String BLOCKS_PATH = ".*[.]shuffle[.](directory|fetch|standin|transport)";
  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          // The build writes it; it calls what all parts call.
          .withImportOption(location -> !location.contains("/LinkedMembers.class"))
          .importPackages(ROOT);

  @Test
  void shouldKeepPackagesFreeOfCycles() {
    slices().matching(ROOT + ".(*)..").should().beFreeOfCycles().check(CLASSES);
  }

  @ParameterizedTest
  @CsvSource({
    "metrics, ''",
    "wire, ''",
    "thread, ''",
    "spark, 'links'",
    "address, 'device settings'",
    "directory, 'address links thread'",
    "settings, ''",
    "device, 'settings wire'",
    "pinned, 'device settings'",
    "links, ''",
    "output, 'links wire'",
    "serve, 'device links metrics wire thread output pinned settings'",
    "fetch, 'links metrics wire directory thread'",
    "transport, 'links metrics wire address device directory serve thread fetch output pinned settings'",
    "broadcast, 'links directory fetch metrics output settings thread'",
    "standin, 'directory fetch metrics output pinned wire'",
    "read, 'links metrics directory fetch spark settings thread'",
    "runtime, 'links address broadcast device directory fetch figures metrics output pinned read settings spark standin thread transport wire'",
    "ui, 'figures links metrics spark'",
    "figures, 'metrics'",
    "driver, 'links broadcast directory executorchecks settings spark thread ui'",
    "executorchecks, 'links address directory pinned runtime settings thread tools'",
    "estimate, ''",
    "tools, 'links address device estimate pinned serve settings transport'",
  })
  void shouldDependOnlyOnLowerPackages(String name, String known) {
    String own = ROOT + "." + name + "..";
    String[] allowed =
        Stream.concat(
                Stream.of(own),
                Arrays.stream(known.split(" ", -1))
                    .filter(other -> !other.isEmpty())
                    .map(other -> ROOT + "." + other + ".."))
            .toArray(String[]::new);
    DescribedPredicate<JavaClass> foreign =
        DescribedPredicate.not(resideInAnyPackage(ROOT, ROOT + ".."));
    classes()
        .that()
        .resideInAPackage(own)
        .should(onlyDependOnClassesThat(resideInAnyPackage(allowed).or(foreign)))
        .check(CLASSES);
  }

  /**
   * A wait on a block's path has a budget, or ends with {@code connect.timeout} or {@code
   * request.timeout} beside TCP. So a new constant of time is named here, with what it is for.
   */
  @Test
  void shouldKnowEachConstantOfTimeWhereBlocksAreFetched() {
    Set<String> known =
        Set.of(
            // What a peer may cost.
            "WaitBudgets.PEER_NS",
            "WaitBudget.FREE_NS",
            // Intervals of checks and ticks, and how long the agent spins or sleeps.
            "WaitBudget.CHECK_NS",
            "WaitBudget.TICK_NS",
            "ReceiveMemory.CHECK_NS",
            "ConnectAttempts.SEARCH_NS",
            "Agent.SHORT_TICK_NS",
            "Agent.TICK_NS",
            "Agent.IDLE_SLEEP_NS",
            "Agent.PAUSE_NS",
            "Agent.WAKE_UP_NS",
            "Agent.DESCHEDULED_NS",
            "Agent.NO_SPIN_NS",
            "TransportWatchdog.CHECK_INTERVAL",
            // Of the next attempt to connect, whose waits have a budget.
            "Peer.FIRST_RETRY_NS",
            "Peer.MAX_RETRY_NS",
            // Of one that answers, after waits in vain.
            "PeerHealth.PAUSED_NS",
            "PeerHealth.APART_NS",
            "PeerHealth.MAX_PAUSED_NS",
            "ConnectAttempts.YOUNG_NS",
            "ServePeers.MIN_IDLE_NS",
            // Of leases, which no block waits for.
            "LocateSender.LEASE_DELAY_NS",
            "LocateAnswers.LEASE_MARGIN_MS",
            // Of readers that are stopped.
            "ServeConnection.FROZEN_NS",
            "ServeConnection.STUCK_NS",
            // Of TCP.
            "FallbackThreads.SLOW_NS",
            "WrongChecksum.KILL_CHECK_MS",
            "WrongChecksum.OOM_PAUSE_MS",
            // Of the end.
            "TransportBuilder.STOP_LIMIT",
            // Intervals of queries, which no block waits for.
            "DirectoryQueries.RECHECK_INTERVAL_NS",
            "DirectoryClient.FIRST_QUERIES_MS",
            "DirectoryClient.FIRST_RETRY_MS",
            "DirectoryClient.LAST_RETRY_MS",
            // Of stand-ins, for which waits have a peer's budget.
            "StandIns.SUSPECT_NS",
            "StandIns.FORGET_NS",
            "StandInOutputs.SERVICE_LIMIT",
            "ServiceDirectories.FIRST_PAUSE_NS",
            "ServiceDirectories.MAX_PAUSE_NS");
    List<String> found =
        CLASSES.stream()
            .filter(type -> type.getPackageName().matches(BLOCKS_PATH))
            .flatMap(type -> type.getFields().stream())
            .filter(ArchitectureTest::isConstantOfTime)
            .map(field -> field.getOwner().getSimpleName() + "." + field.getName())
            .toList();
    assertThat(found).containsExactlyInAnyOrderElementsOf(known);
  }

  private static boolean isConstantOfTime(JavaField field) {
    boolean constant = field.getModifiers().contains(JavaModifier.STATIC);
    boolean duration = field.getRawType().isEquivalentTo(Duration.class);
    return constant && (duration || field.getName().matches(".*_(NS|MS|SECONDS)"));
  }

  /** Names of files, mounts and control groups have any bytes, which UTF-8 rejects. */
  @Test
  void shouldReadNoFileOfTheSystemThatMustBeUtf8() {
    JavaClasses all =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            // In a build that packages, the tests of rdma-core-java are in a jar.
            .withImportOption(location -> !location.contains("-tests.jar"))
            .importPackages("org.sparkrdma");
    for (String method : List.of("readString", "readAllLines", "lines", "newBufferedReader")) {
      noClasses().should().callMethod(Files.class, method, Path.class).check(all);
    }
  }

  /** Classes of all other packages depend on none of these. */
  private static void assertOnlyIn(List<String> users, String... used) {
    noClasses()
        .that()
        .resideOutsideOfPackages(users.toArray(String[]::new))
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(used)
        .check(CLASSES);
  }

  /** They run without Spark, and an executor without them; it may run the checks of the doctor. */
  @Test
  void shouldKeepCommandsApartFromSparkAndFromExecutors() {
    noClasses()
        .that()
        .resideInAPackage(ROOT + ".tools..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.apache.spark..", "scala..")
        .check(CLASSES);
    assertOnlyIn(List.of(ROOT + ".tools.."), ROOT + ".tools", ROOT + ".tools.peer..", "picocli..");
    assertOnlyIn(List.of(ROOT + ".tools..", ROOT + ".executorchecks.."), ROOT + ".tools..");
    assertOnlyIn(List.of(ROOT + ".tools", ROOT + ".estimate"), ROOT + ".estimate");
    noClasses()
        .that()
        .resideInAnyPackage(ROOT + ".tools.doctor..", ROOT + ".tools.engines..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("picocli..")
        .check(CLASSES);
  }

  /**
   * Digits and decimal points must not depend on the machine: programs read many of these texts.
   */
  @Test
  void shouldNotFormatByTheLocaleOfTheMachine() {
    noClasses()
        .should()
        .callMethod(String.class, "formatted", Object[].class)
        .orShould()
        .callMethod(String.class, "format", String.class, Object[].class)
        .orShould()
        .callMethod(PrintWriter.class, "printf", String.class, Object[].class)
        .orShould()
        .callMethod(String.class, "toLowerCase")
        .orShould()
        .callMethod(String.class, "toUpperCase")
        .check(CLASSES);
  }

  /** They fail on a space, which Spark's own typed entries ignore. */
  @Test
  void shouldReadSettingsOfSparkAsSparkDoes() {
    for (Class<?> type : List.of(boolean.class, int.class, long.class, double.class)) {
      String name = type.getName();
      String method = "get" + name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
      noClasses().should().callMethod(SparkConf.class, method, String.class, type).check(CLASSES);
    }
  }

  @Test
  void shouldUseEnginesOnlyThroughTheirInterface() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "org.sparkrdma.verbs.soft..",
            "org.sparkrdma.verbs.ibverbs..",
            "org.sparkrdma.verbs.disni..")
        .check(CLASSES);
  }

  @Test
  void shouldUseVersionSpecificSparkClassesInOnePackage() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + ".spark..")
        .should()
        .dependOnClassesThat()
        .haveNameMatching(
            "org\\.apache\\.spark\\.(util\\.collection\\.ExternalSorter.*"
                + "|storage\\.ShuffleBlockFetcherIterator.*"
                + "|network\\.netty\\.SparkTransportConf.*"
                + "|package\\$?"
                + "|ui\\.UIUtils.*"
                + "|shuffle\\.checksum\\.RowBasedChecksum.*"
                + "|internal\\.SparkLogger.*)")
        .check(CLASSES);
  }

  /** Spark 3.5 cannot load what extends pages of Spark 4; see UiSupport. */
  @Test
  void shouldUseSparksPagesInOnePackageThatOnlyTheDriverStarts() {
    assertOnlyIn(
        List.of(ROOT + ".ui..", ROOT + ".spark.ui"),
        "org.apache.spark.ui..",
        "jakarta.servlet..",
        "org.json4s..");
    noClasses().should().dependOnClassesThat().resideInAnyPackage("javax.servlet..").check(CLASSES);
    assertOnlyIn(List.of(ROOT + ".ui..", ROOT + ".spark.ui"), ROOT + ".spark.ui");
    assertOnlyIn(List.of(ROOT + ".ui..", ROOT + ".driver"), ROOT + ".ui..");
  }
}
