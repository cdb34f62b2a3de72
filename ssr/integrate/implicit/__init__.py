"""Implicit and implicit-explicit methods: stage equations, Newton's method and line solves."""
