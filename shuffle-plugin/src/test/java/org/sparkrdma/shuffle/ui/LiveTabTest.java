// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.RdmaShuffleManager;
import scala.Tuple2;

/** The tab of a real application, live and from its event log in a real History Server. */
@Tag("slow")
@Timeout(120)
class LiveTabTest {
  private static final String TAB = "RDMA shuffle</a>";

  @TempDir Path logs;

  @Test
  void shouldSayInLocalModeWhyRdmaIsNotUsed() throws Exception {
    assertThat(pageOf(conf())).contains("in local mode no block is remote").contains(TAB);
  }

  @Test
  void shouldSayThatTheModeIsOff() throws Exception {
    assertThat(pageOf(conf().set("spark.shuffle.rdma.mode", "off")))
        .contains("RDMA is not used: spark.shuffle.rdma.mode=off");
  }

  private static String pageOf(SparkConf conf) throws Exception {
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      shuffle(spark);
      shuffle(spark);
      return get(spark.sc().uiWebUrl().get() + "/rdma-shuffle/");
    }
  }

  private static void shuffle(JavaSparkContext spark) {
    List<Integer> numbers = IntStream.range(0, 100).boxed().toList();
    assertThat(
            spark
                .parallelize(numbers, 3)
                .mapToPair(number -> new Tuple2<>(number % 7, number))
                .reduceByKey(Integer::sum, 4)
                .collectAsMap())
        .hasSize(7);
  }

  private static SparkConf conf() {
    return new SparkConf(false)
        .setMaster("local[2]")
        .setAppName("tab")
        .set("spark.ui.enabled", "true")
        .set("spark.ui.port", "0")
        .set("spark.driver.host", "127.0.0.1")
        .set("spark.shuffle.manager", RdmaShuffleManager.class.getName());
  }

  private static String get(String url) throws Exception {
    HttpResponse<String> answer = request(url);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }

  private static HttpResponse<String> request(String url) throws Exception {
    HttpClient client = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();
    return client.send(
        HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString());
  }
}
