// SPDX-License-Identifier: Apache-2.0
/**
 * What the plug-in needs of Spark, Scala and the libraries that Spark brings, and what this Spark
 * has of it. A vendor's Spark, or a later one, may lack a method or field: then the part that needs
 * it is not used, and the job runs with Spark's own.
 *
 * <p>Called by the threads that start the plug-in, and by those that meet a missing one later.
 */
package org.sparkrdma.shuffle.links;
