// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.shuffle.ShuffleManager;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Stand-ins for the SparkEnv of several versions: what it calls its manager has changed. */
class OtherManagerTest {
  private static final ShuffleManager MANAGER = new SortShuffleManager(new SparkConf(false));

  /** Up to 4.2. */
  public static final class Today {
    public ShuffleManager shuffleManager() {
      return MANAGER;
    }
  }

  /** With one for pipelined shuffles beside it. */
  public static final class Blocking {
    public ShuffleManager shuffleManagerFor(String dependency) {
      throw new AssertionError(dependency);
    }

    public ShuffleManager blockingShuffleManager() {
      return MANAGER;
    }
  }

  /** As the class before. */
  public static final class Default {
    public ShuffleManager shuffleManagerFor(String dependency) {
      throw new AssertionError(dependency);
    }

    public ShuffleManager defaultShuffleManager() {
      return MANAGER;
    }
  }

  static Stream<Object> environments() {
    return Stream.of(new Today(), new Blocking(), new Default());
  }

  @ParameterizedTest
  @MethodSource("environments")
  void shouldFindTheManagerByEachName(Object environment) {
    assertThat(OtherManager.managerOf(environment)).isSameAs(MANAGER);
  }

  @Test
  void shouldMissTheMethodWhereThereIsNone() {
    assertThatThrownBy(() -> OtherManager.managerOf("without one"))
        .isInstanceOf(NoSuchMethodError.class)
        .hasMessageContaining("shuffleManager");
  }
}
