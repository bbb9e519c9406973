// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.network.util.ConfigProvider;
import org.apache.spark.network.util.TransportConf;
import scala.Tuple2;

/**
 * The settings of Spark's shuffle transport, required for files of fetched blocks.
 *
 * <p>Built here because {@code SparkTransportConf.fromSparkConf} has different signatures in Spark
 * 3.5 and 4.0. Stateless.
 */
public final class ShuffleTransportConf {
  private ShuffleTransportConf() {}

  /** A view of a copy of {@code conf}. */
  public static TransportConf of(SparkConf conf) {
    return new TransportConf("shuffle", new CopiedConf(conf.clone()));
  }

  /** Immutable, because no other code has the copy. */
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
