"""Implicit and implicit-explicit methods: equations of stages, Newton's method, line solves."""
