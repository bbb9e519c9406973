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

import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;

/** When Spark's environment of an application can be used. Stateless. */
public final class SparkEnvironment {
  private SparkEnvironment() {}

  /**
   * Whether SparkEnv of the application with this configuration is set.
   *
   * <p>Spark 4.0 and newer set it before they create the shuffle manager, Spark 3.5 afterwards. In
   * tests an earlier application of the same JVM may have left its own.
   */
  public static boolean isSetFor(SparkConf conf) {
    SparkEnv env = SparkEnv.get();
    return env != null && env.conf().equals(conf);
  }
}
