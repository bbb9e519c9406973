// SPDX-License-Identifier: Apache-2.0
/**
 * A real standalone Spark cluster on this machine: a Master, Workers and executors in processes of
 * their own, all on 127.0.0.1.
 *
 * <p>Entry: {@link org.sparkrdma.cluster.StandaloneCluster}. It needs a Spark home, a directory
 * with Spark's jars under {@code jars}; the build of the {@code benchmarks} module assembles one
 * from Maven artifacts in {@code benchmarks/target/spark-home}, before that module's tests run, and
 * the modules after it in the reactor use it. The project's own jars are not in it: they are passed
 * to each application.
 *
 * <p>Every process is ended by {@code close}, and by a shutdown hook when a signal ends the JVM.
 */
package org.sparkrdma.cluster;
