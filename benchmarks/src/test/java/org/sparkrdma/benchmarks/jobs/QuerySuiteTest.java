// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("slow")
@Timeout(180)
class QuerySuiteTest {
  private static SparkSession session;

  @BeforeAll
  static void start() {
    session =
        SparkSession.builder()
            .master("local[1]")
            .config("spark.ui.enabled", false)
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .getOrCreate();
  }

  @AfterAll
  static void stop() {
    session.stop();
  }

  /** Spark looks up tables, columns and types of a query before it runs it. */
  @ParameterizedTest
  @EnumSource
  void shouldFindEveryTableAndColumnOfEveryQuery(PublishedQueries.QuerySuite suite) {
    TableFiles.TableGenerator generator = suite.generator();
    for (String table : generator.tables()) {
      session
          .createDataFrame(List.of(), StructType.fromDDL(generator.schema(table)))
          .createOrReplaceTempView(table);
    }
    List<String> wrong = new ArrayList<>();
    for (String query : suite.queries()) {
      try {
        session.sql(suite.text(query));
      } catch (RuntimeException | Error e) {
        throw e;
      } catch (Exception e) {
        wrong.add(query + ": " + e.getMessage().lines().findFirst().orElse(""));
      }
    }
    assertThat(wrong).isEmpty();
  }
}
