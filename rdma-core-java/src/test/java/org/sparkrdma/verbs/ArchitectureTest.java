// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
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
  private static final DescribedPredicate<JavaClass> DISNI = resideInAPackage("com.ibm.disni..");
  private static final DescribedPredicate<JavaClass> SHARED_BY_ENGINES =
      resideInAPackage("org.sparkrdma.verbs.engine..");
  private static final String[] ENGINE_PACKAGES = {
    "org.sparkrdma.verbs.soft..", "org.sparkrdma.verbs.ibverbs..", DISNI_ENGINE
  };
  private static final DescribedPredicate<JavaClass> ENGINES = resideInAnyPackage(ENGINE_PACKAGES);
  private static JavaClasses production;

  @BeforeAll
  static void read() {
    production =
        new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("org.sparkrdma");
    assertThat(production).isNotEmpty();
  }

  /** Those classes may not depend on these. */
  private static void forbid(
      DescribedPredicate<JavaClass> those, DescribedPredicate<JavaClass> these) {
    allowOnly(those, not(these));
  }

  private static void allowOnly(
      DescribedPredicate<JavaClass> those, DescribedPredicate<JavaClass> these) {
    classes().that(those).should().onlyDependOnClassesThat(these).check(production);
  }

  /** Nor on Spark. */
  @Test
  void shouldDependOnlyOnTheJdkAndTheLogger() {
    DescribedPredicate<JavaClass> allowed =
        resideInAnyPackage("java..", "javax.crypto..", "org.slf4j..", "org.sparkrdma..")
            .and(not(resideInAPackage("org.sparkrdma.shuffle..")));
    allowOnly(not(resideInAnyPackage(DISNI_ENGINE, IBVERBS_CALLS)), allowed);
    allowOnly(resideInAPackage(DISNI_ENGINE), allowed.or(DISNI));
    allowOnly(resideInAPackage(IBVERBS_CALLS), allowed.or(resideInAPackage("com.kenai.jffi..")));
  }

  /** This class is loaded also without DiSNI's jar. */
  @Test
  void shouldDetectDisniWithoutItsClasses() {
    forbid(name("org.sparkrdma.verbs.disni.DisniProvider").forSubtype(), DISNI);
  }

  @Test
  void shouldReachEnginesOnlyThroughTheApi() {
    forbid(not(ENGINES), ENGINES);
  }

  @Test
  void shouldKeepEnginesIndependentOfEachOther() {
    for (String engine : ENGINE_PACKAGES) {
      forbid(resideInAPackage(engine), ENGINES.and(not(resideInAPackage(engine))));
    }
  }

  @Test
  void shouldKeepTheLoopbackEnginesSharedStateIndependentOfItsObjects() {
    forbid(
        resideInAPackage("org.sparkrdma.verbs.soft.shared"),
        resideInAPackage("org.sparkrdma.verbs.soft"));
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
    forbid(not(ENGINES.or(SHARED_BY_ENGINES)), SHARED_BY_ENGINES);
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
  void shouldKeepTheApiFreeOfMemory() {
    forbid(
        resideInAnyPackage(
            "org.sparkrdma.verbs",
            "org.sparkrdma.verbs.cm",
            "org.sparkrdma.verbs.device",
            "org.sparkrdma.verbs.spi"),
        resideInAPackage("org.sparkrdma.memory.."));
  }
}
