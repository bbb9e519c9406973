// SPDX-License-Identifier: Apache-2.0
/** SparkRDMA's package; holds only the former name of the shuffle manager, and no thread. */
package org.apache.spark.shuffle.rdma;
