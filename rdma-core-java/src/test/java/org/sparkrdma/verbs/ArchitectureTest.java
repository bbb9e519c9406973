// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.spi.VerbsProvider;

/** Allowed dependencies between packages. */
class ArchitectureTest {
  private static final String DISNI_ENGINE = "org.sparkrdma.verbs.disni..";
  private static final String IBVERBS_CALLS = "org.sparkrdma.verbs.ibverbs.ffi";
  private static final String JFFI = "com.kenai.jffi..";
  private static final String DISNI = "com.ibm.disni..";
  private static final String SHARED_BY_ENGINES = "org.sparkrdma.verbs.engine..";
  private static final String[] ENGINES = {
    "org.sparkrdma.verbs.soft..", "org.sparkrdma.verbs.ibverbs..", DISNI_ENGINE
  };

  private static JavaClasses production;

  @BeforeAll
  static void read() {
    production =
        new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("org.sparkrdma");
    assertThat(production).isNotEmpty();
  }

  @Test
  void shouldNotDependOnSpark() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "org.apache.spark..",
            "org.apache.hadoop..",
            "scala..",
            "io.netty..",
            "org.sparkrdma.shuffle..")
        .check(production);
  }

  @Test
  void shouldDependOnlyOnTheJdkAndTheLogger() {
    String[] allowed = {"java..", "javax.crypto..", "org.slf4j..", "org.sparkrdma.."};
    classes()
        .that()
        .resideOutsideOfPackages(DISNI_ENGINE, IBVERBS_CALLS)
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(allowed)
        .check(production);
    classes()
        .that()
        .resideInAPackage(DISNI_ENGINE)
        .should()
        .onlyDependOnClassesThat(resideInAnyPackage(allowed).or(resideInAPackage(DISNI)))
        .check(production);
    classes()
        .that()
        .resideInAPackage(IBVERBS_CALLS)
        .should()
        .onlyDependOnClassesThat(resideInAnyPackage(allowed).or(resideInAPackage(JFFI)))
        .check(production);
  }

  /** This class is loaded also without DiSNI's jar. */
  @Test
  void shouldDetectDisniWithoutItsClasses() {
    classes()
        .that()
        .haveSimpleName("DisniProvider")
        .should()
        .onlyDependOnClassesThat(not(resideInAPackage(DISNI)))
        .check(production);
  }

  @Test
  void shouldReachEnginesOnlyThroughTheApi() {
    noClasses()
        .that()
        .resideOutsideOfPackages(ENGINES)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(ENGINES)
        .check(production);
  }

  @Test
  void shouldKeepEnginesIndependentOfEachOther() {
    for (String engine : ENGINES) {
      noClasses()
          .that()
          .resideInAPackage(engine)
          .should()
          .dependOnClassesThat(resideInAnyPackage(ENGINES).and(not(resideInAPackage(engine))))
          .check(production);
    }
  }

  @Test
  void shouldKeepTheLoopbackEnginesSharedStateIndependentOfItsObjects() {
    noClasses()
        .that()
        .resideInAPackage("org.sparkrdma.verbs.soft.shared")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.sparkrdma.verbs.soft")
        .check(production);
  }

  /**
   * The API names two packages that use it: a device creates connection managers, and {@link Verbs}
   * finds providers of engines.
   */
  @Test
  void shouldKeepPackagesFreeOfCyclesButThoseOfTheApi() {
    slices()
        .matching("org.sparkrdma.(**)")
        .should()
        .beFreeOfCycles()
        .ignoreDependency(Device.class, ConnectionManager.class)
        .ignoreDependency(name(Verbs.class.getName()), resideInAPackage("org.sparkrdma.verbs.spi"))
        .check(production);
  }

  /** The package is public only for the packages of the engines. */
  @Test
  void shouldUseTheSharedEngineCoreInEnginesOnly() {
    noClasses()
        .that()
        .resideOutsideOfPackages(ENGINES)
        .and()
        .resideOutsideOfPackage(SHARED_BY_ENGINES)
        .should()
        .dependOnClassesThat()
        .resideInAPackage(SHARED_BY_ENGINES)
        .check(production);
  }

  /** Public classes in an engine's subpackages are public for that engine only. */
  @Test
  void shouldExposeOnlyTheProviderOfAnEngine() {
    classes()
        .that()
        .resideInAnyPackage(
            "org.sparkrdma.verbs.soft", "org.sparkrdma.verbs.ibverbs", "org.sparkrdma.verbs.disni")
        .and()
        .areTopLevelClasses()
        .and()
        .haveModifier(JavaModifier.PUBLIC)
        .should()
        .implement(VerbsProvider.class)
        .check(production);
  }

  @Test
  void shouldKeepTheApiFreeOfMemoryAndEngines() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "org.sparkrdma.verbs",
            "org.sparkrdma.verbs.cm",
            "org.sparkrdma.verbs.device",
            "org.sparkrdma.verbs.spi")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.sparkrdma.memory..")
        .check(production);
  }
}
