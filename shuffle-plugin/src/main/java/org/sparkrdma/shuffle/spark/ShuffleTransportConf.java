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
package org.sparkrdma.shuffle.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.network.util.ConfigProvider;
import org.apache.spark.network.util.TransportConf;
import scala.Tuple2;

/**
 * The settings of Spark's shuffle transport, which files of fetched blocks need.
 *
 * <p>Built here because {@code SparkTransportConf.fromSparkConf} has another signature in each of
 * Spark 3.5 and 4.0. Stateless.
 */
public final class ShuffleTransportConf {
  private ShuffleTransportConf() {}

  /** A view of a copy of {@code conf}. */
  public static TransportConf of(SparkConf conf) {
    return new TransportConf("shuffle", new CopiedConf(conf.clone()));
  }

  /** Immutable, since nobody else has the copy. */
  private static final class CopiedConf extends ConfigProvider {
    private final SparkConf conf;

    CopiedConf(SparkConf conf) {
      this.conf = conf;
    }

    @Override
    public String get(String name) {
      return conf.get(name);
    }

    @Override
    public Iterable<Map.Entry<String, String>> getAll() {
      List<Map.Entry<String, String>> entries = new ArrayList<>();
      for (Tuple2<String, String> entry : conf.getAll()) {
        entries.add(Map.entry(entry._1(), entry._2()));
      }
      return entries;
    }
  }
}
