// SPDX-License-Identifier: Apache-2.0
/**
 * The commands of the plug-in's jar: {@code java -jar spark-rdma-shuffle.jar COMMAND}. Entry class
 * {@link org.sparkrdma.shuffle.tools.Main}. All but {@code estimate} run without Spark, so nothing
 * here uses a class of Spark or Scala, and no other package uses this one. One thread.
 */
package org.sparkrdma.shuffle.tools;
